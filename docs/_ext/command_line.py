"""Command line: the directive `command-line` lists every command with its options."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import typer
from docutils import nodes
from rich.text import Text
from sphinx.util.docutils import SphinxDirective

from rosenblatt.cli import app as rosenblatt_app


class CommandLine(SphinxDirective):
    """One section per command: usage, what it does, arguments and options, examples."""

    def run(self) -> list[nodes.Node]:
        group = typer.main.get_command(rosenblatt_app)
        context = group.context_class(group, info_name="rosenblatt")
        return [
            section_of(name, group.get_command(context, name), context)
            for name in group.list_commands(context)
        ]


def section_of(name: str, command: Any, parent: Any) -> nodes.section:
    """The section of one command."""
    context = command.context_class(command, info_name=name, parent=parent)
    section = nodes.section(ids=[f"rosenblatt-{name}"], names=[f"rosenblatt {name}"])
    section += nodes.title("", "", nodes.literal(text=f"rosenblatt {name}"))
    usage = " ".join(["rosenblatt", name, *command.collect_usage_pieces(context)])
    section += nodes.literal_block(usage, usage, language="text")
    for paragraph in plain(command.help).split("\n\n"):
        section += nodes.paragraph(text=paragraph)
    panels: dict[str, list[Any]] = defaultdict(list)
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:  # hidden ones have none
            default = "Options" if parameter.param_type_name == "option" else "Arguments"
            panels[getattr(parameter, "rich_help_panel", None) or default].append(record)
    for title, records in panels.items():
        section += nodes.rubric(text=title)
        section += definitions(records)
    if command.epilog:
        heading, *lines = plain(command.epilog).split("\n")
        section += nodes.rubric(text=heading)
        text = "\n".join(line.strip() for line in lines)
        section += nodes.literal_block(text, text, language="text")
    return section


def definitions(records: list[tuple[str, str]]) -> nodes.definition_list:
    """A list of options and what they do."""
    found = nodes.definition_list(classes=["options"])
    for names, text in records:
        item = nodes.definition_list_item()
        item += nodes.term("", "", nodes.literal(text=names))
        item += nodes.definition("", nodes.paragraph(text=text))
        found += item
    return found


def plain(text: str | None) -> str:
    """Text without the markup of rich."""
    return Text.from_markup(text or "").plain


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
