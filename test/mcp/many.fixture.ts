/** An MCP server over its standard streams with as many small echo tools as its argument says. */
const count = Number(process.argv[2] ?? 50);
const tools = Array.from({ length: count }, (_, n) => ({
  name: `tool_${n}`,
  description: `Does thing number ${n} with a text, and answers what came of it.`,
  inputSchema: { type: "object", properties: { text: { type: "string", description: "What to do it with." } } },
}));

function answer(method: string, params: { arguments?: { text?: string } }): object | undefined {
  if (method === "tools/list") return { tools };
  if (method === "tools/call") return { content: [{ type: "text", text: params.arguments?.text ?? "" }] };
  if (method !== "initialize") return undefined;
  const serverInfo = { name: "many", version: "1" };
  return { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo };
}

let rest = "";
for await (const chunk of process.stdin) {
  const lines = (rest + String(chunk)).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    const result = answer(method, params ?? {});
    const body = result === undefined ? { error: { code: -32601, message: "unknown" } } : { result };
    if (id !== undefined) process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`);
  }
}

export {};
