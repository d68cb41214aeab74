"""Where a service of OpenAI's protocol is asked."""

from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlencode, urlsplit, urlunsplit

from vernal_openai.profiles import Profile


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a kind of model; `template` is what follows it, `{}` in it the name of the model."""

    url: str
    template: str = ""

    def path(self, model: str) -> str:
        """What follows the address in a request to `model`."""
        return self.template and self.template.format(quote(model, safe=""))


def address_for(profile: Profile, base_url: str, path: str, api_version: str | None = None) -> Address:
    """Where `path` is at the service; a `base_url` that ends in it already is taken as it is.

    Azure has two schemes: one like OpenAI's own, under `/openai/v1`, and an older one by deployment, which wants an
    `api_version`. An endpoint alone, such as `https://NAME.openai.azure.com`, is completed to either.
    """
    parts = urlsplit(base_url)
    if profile.name != "azure":
        return Address(_under(parts, path))
    version = urlencode({"api-version": api_version}) if api_version else ""
    if parts.path.rstrip("/") in ("", "/openai"):
        if version:
            deployments = urlunsplit((parts.scheme, parts.netloc, "/openai/deployments", "", ""))
            return Address(deployments, f"/{{}}{path}?{version}")
        parts = parts._replace(path="/openai/v1")
    elif "/deployments/" in parts.path and not parts.query:
        parts = parts._replace(query=version)
    return Address(_under(parts, path))


def _under(parts: SplitResult, path: str) -> str:
    base = parts.path.rstrip("/").removesuffix(path)
    return urlunsplit((parts.scheme, parts.netloc, f"{base}{path}", parts.query, ""))
