"""The toolset as an MCP server: for agents on other platforms. Needs the extra `mcp`."""
