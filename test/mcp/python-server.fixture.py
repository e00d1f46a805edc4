"""A server made with the Python SDK, of either line, over its standard streams."""

try:
    from mcp.server import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server

server = Server("python")


@server.tool()
def shout(text: str, times: int = 1) -> str:
    """Says it loudly."""
    return " ".join([text.upper() + "!"] * times)


server.run()
