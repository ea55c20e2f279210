"""What one run of a custom procedure may be asked for."""

from __future__ import annotations

from ..options import ProcedureOptions, choices_option, option


class CustomFlags(ProcedureOptions):
    """The options of one run."""

    models: tuple[str, ...] = option(
        (),
        "Models for the seats in their order, beginning anew when they are used up; stronger than "
        "those of the definition.",
        part="models",
    )
    choices: tuple[str, ...] = choices_option()
