"""`vernal new`: packages to begin with, which pass their own tests as they are.

naming.py     one name, and the names that follow from it
writing.py    templates become files
templates/    the packages, file by file: `__package__` in a path and `$package` in a text stand for what follows
              from the name (`string.Template`, so that `$$` is a dollar)
"""
