"""Writes down every tool call that a model asks for, in every application that has this package installed."""

from vernal_audit.advisor import AuditingToolCallingAdvisor
from vernal_audit.journal import Entry, Journal
from vernal_audit.settings import AuditSettings

__all__ = ["AuditSettings", "AuditingToolCallingAdvisor", "Entry", "Journal"]
