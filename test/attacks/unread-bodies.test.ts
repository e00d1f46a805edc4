import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { startGateway, type TestGateway } from "../../gateway/src/testing/gateway.ts";

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ token: "a-long-secret" });
});
afterAll(() => gateway?.[Symbol.asyncDispose]());

/** What a stranger is answered who announces nine megabytes and sends two bytes of them. */
function answered(path: string, headers = ""): Promise<string> {
  const { port } = new URL(gateway.url);
  const socket = connect(Number(port), "127.0.0.1");
  const begun = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n${headers}\r\n{}`;
  return new Promise<string>((resolve) => {
    const late = setTimeout(() => resolve("nothing"), 5_000);
    socket.on("error", () => undefined);
    socket.once("data", (data) => resolve(String(data).slice(9, 12)));
    socket.once("close", () => clearTimeout(late));
    socket.write(begun);
  }).finally(() => socket.destroy());
}

test.each([
  ["/a2a/echo", "401", ""],
  ["/a2a/echo/message:send", "401", "A2A-Version: 1.0\r\n"],
  ["/a2a/echo/message:stream", "401", "A2A-Version: 1.0\r\n"],
  ["/a2a/echo/tasks/t:cancel", "401", "A2A-Version: 1.0\r\n"],
  ["/a2a/echo/tasks/t/pushNotificationConfigs", "401", "A2A-Version: 1.0\r\n"],
  ["/mcp", "401", ""],
  ["/v1/chat/completions", "401", ""],
  ["/flows/echo", "401", ""],
  ["/hooks/none", "404", ""],
  ["/doorbell/a", "404", ""],
])("of a stranger no body is waited for: %s", async (path, status, headers) => {
  expect(await answered(path, headers)).toBe(status);
});
