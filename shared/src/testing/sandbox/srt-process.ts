/**
 * Opens the sandbox runtime's egress proxy for the given names, requests each through it as a
 * confined program would, and prints the answers.
 */
import { connect } from "node:net";
import { createSrt } from "../../machine/confinement/srt.ts";

const names = process.argv.slice(2);
const confinement = await createSrt("own-proc", names);
const { SandboxManager } = await import("@anthropic-ai/sandbox-runtime");
const socket = SandboxManager.getLinuxHttpSocketPath() ?? "";
const credentials = Buffer.from(`srt:${SandboxManager.getProxyAuthToken()}`).toString("base64");
for (const name of names) {
  const answer = await new Promise<string>((resolve, reject) => {
    const asking = connect({ path: socket });
    let text = "";
    asking.on("data", (chunk) => {
      text += chunk;
    });
    asking.once("close", () => resolve(text)).once("error", reject);
    asking.write(
      `GET http://${name}:9/ HTTP/1.1\r\nHost: ${name}:9\r\nProxy-Authorization: Basic ${credentials}\r\nConnection: close\r\n\r\n`,
    );
  });
  process.stdout.write(`${JSON.stringify({ name, answer })}\n`);
}
await confinement.close();
process.exit(0);
