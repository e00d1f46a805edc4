/**
 * Installs the peers into a folder outside the checkout: all of them, or those named.
 *
 * `bun test/conformance/peers/install.ts FOLDER [NAME…]`
 */
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { installedMark, type Peer, peers } from "./peers.ts";

const [folder, ...names] = process.argv.slice(2);
const unknown = names.filter((name) => !peers.some((peer) => peer.name === name));
if (folder === undefined || unknown.length > 0) {
  console.error(`Usage: bun test/conformance/peers/install.ts FOLDER [${peers.map(({ name }) => name).join(" ")}]`);
  process.exit(2);
}
for (const peer of peers) if (names.length === 0 || names.includes(peer.name)) await install(peer, resolve(folder));

async function install({ name, from }: Peer, into: string): Promise<void> {
  const home = join(into, name);
  await mkdir(home, { recursive: true });
  console.log(`${name}:`);
  if ("pypi" in from) {
    await run(["python3", "-m", "venv", home]);
    await run([join(home, "bin/pip"), "install", "--quiet", "--disable-pip-version-check", ...from.pypi]);
  } else if ("npm" in from) {
    await Bun.write(join(home, "package.json"), '{ "private": true }\n');
    await run(["npm", "install", "--no-audit", "--no-fund", "--save-exact", ...from.npm], home);
  } else {
    await run(["git", "init", "--quiet", home]);
    await run(["git", "fetch", "--quiet", "--depth=1", from.git, from.commit], home);
    await run(["git", "checkout", "--quiet", from.commit], home);
  }
  await Bun.write(join(home, installedMark), "");
}

async function run(command: readonly string[], cwd?: string): Promise<void> {
  const child = Bun.spawn([...command], { stdio: ["ignore", "inherit", "inherit"], ...(cwd !== undefined && { cwd }) });
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
}
