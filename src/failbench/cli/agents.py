"""The command ``mcp``: tools for agents."""

from failbench.cli.terminal import interruptible


def mcp() -> int:
    """Serve agents what diagnose and read say, by the Model Context Protocol.

    It speaks on standard input and output until the input ends, reads logs within the working
    directory alone, changes nothing and sends nothing anywhere.
    """
    from failbench.agents.server import server

    with interruptible("Stopped."):
        server().run()
    return 0
