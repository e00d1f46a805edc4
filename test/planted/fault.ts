/** A small mistake in the product that somebody could make. */
export type Fault = {
  readonly id: string;
  /** The file to change, relative to the workspace's root. */
  readonly file: string;
  /** The text to replace, which must occur exactly once, and its replacement. */
  readonly find: string;
  readonly becomes: string;
  /** What goes wrong, and for whom. */
  readonly harm: string;
  /** The tests to run, in this order: the room's own, then those that span it. */
  readonly tests: readonly string[];
};

/** The tests of each room: its own first, then those that span it. */
export const core = ["shared/src/core", "shared/src/runs", "shared/src/a2a/task-view", "gateway/src/tasks/every-event"];
export const durable = ["shared/src/durable"];
export const agent = ["shared/src/agent"];
export const a2a = ["shared/src/a2a/server", "shared/src/a2a/client", "shared/src/runs", "shared/src/http", "test/a2a"];
export const asking = ["shared/src/a2a/ask", "shared/src/a2a/delegate", "test/agents/delegate"];
export const flows = ["shared/src/flow", "flows/src"];
export const sandbox = ["confinement", "memory", "sandbox"]
  .map((room) => `shared/src/machine/${room}`)
  .concat("test/attacks");
export const egress = ["shared/src/machine/egress", "test/attacks/exfiltration"];
export const workspace = ["shared/src/machine/workspace"];
export const mcp = ["shared/src/mcp/client", "test/mcp"];
export const mcpServer = ["shared/src/mcp/server", "test/mcp"];
export const risk = ["shared/src/tools/risk", "test/attacks"];
export const code = ["shared/src/tools/code"];
export const data = ["shared/src/tools/data"];
export const documents = ["shared/src/tools/documents", "test/attacks/documents"];
export const config = ["shared/src/config"];
export const gateway = ["gateway/src"];
export const settings = ["gateway/src/settings", "gateway/src/rest/settings"];
export const models = ["shared/src/models"];
export const auth = ["shared/src/auth", "shared/src/server/access", "test/e2e/sign-in", "test/principals"];
export const quotas = [
  "shared/src/runs/quotas",
  "test/a2a/quotas",
  "gateway/src/server/quotas",
  "shared/src/durable/sqlite",
];
export const grpc = ["test/a2a/grpc"];
export const grpcServer = ["shared/src/a2a/server/grpc/serve-grpc"];
export const python = ["shared/src/tools/python", "test/attacks/warm-python"];
export const signing = ["shared/src/a2a/signing"];
export const remembering = ["shared/src/memory", "shared/src/agent/memory"];
