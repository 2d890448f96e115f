"""Wrappers that give our estimators the interfaces of other libraries."""
