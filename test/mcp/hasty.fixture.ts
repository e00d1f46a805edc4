/** A server by hand, whose last progress and result come in one piece. */
for await (const line of console) {
  const { id, method, params } = JSON.parse(line);
  const answer = (result: object) => ({ jsonrpc: "2.0", id, result });
  const progress = (done: number) => ({
    jsonrpc: "2.0",
    method: "notifications/progress",
    params: { progressToken: params._meta?.progressToken, progress: done, total: 2 },
  });
  const messages =
    method === "initialize"
      ? [
          answer({
            protocolVersion: "2025-06-18",
            capabilities: { tools: {} },
            serverInfo: { name: "h", version: "1" },
          }),
        ]
      : method === "tools/list"
        ? [answer({ tools: [{ name: "hurry", inputSchema: { type: "object" } }] })]
        : method === "tools/call"
          ? [progress(1), progress(2), answer({ content: [{ type: "text", text: "done" }] })]
          : id === undefined
            ? []
            : [{ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } }];
  process.stdout.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
}

export {};
