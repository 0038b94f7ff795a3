"""`mkdocs` in a forked process, which has imported the code that pages are generated from."""

from __future__ import annotations

import gc


def mkdocs() -> None:
    """Run the command line, without collecting garbage, which would take a fifth of its time."""
    # Imported here, because the extra `docs` may not be installed.
    from mkdocs.__main__ import cli

    gc.disable()
    cli()
