import { createSandbox, type SandboxMode } from "../../machine/confinement/create-sandbox.ts";

/** A server of its own that runs one shell script in a sandbox, joined to its input and output. */
const [, , mode, folder = "", workspace = "", script = ""] = process.argv;
const sandbox = await createSandbox({ mode: mode as SandboxMode, folder });
const { stdin, stdout, exited } = await sandbox.spawn({ argv: ["bash", "-c", script], workspace });
const read = async () => {
  for await (const chunk of stdout) process.stdout.write(chunk);
};
const write = async () => {
  for await (const chunk of Bun.stdin.stream()) {
    stdin.write(chunk);
    stdin.flush();
  }
  stdin.end();
};
void write();
await read();
await exited;
await sandbox.close();
