import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGatewayServer } from "../servers/gateway-server.ts";

test("flows use their own model if one is named, and the gateway says which", async () => {
  const home = await mkdtemp(join(tmpdir(), "gateway-settings-"));
  const gateway = await startGatewayServer(home, {
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "of-agents",
    MANYHANDS_LLM_THINKER_MODEL: "of-flows",
    MANYHANDS_FLOWS_MODEL: "thinker",
  });
  try {
    expect((await gateway.call("/healthz")).body.model).toMatchObject({ name: "of-flows" });
  } finally {
    await gateway.stop("SIGKILL");
    await rm(home, { recursive: true });
  }
});
