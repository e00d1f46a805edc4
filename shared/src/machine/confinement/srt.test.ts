import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableTiers } from "../../testing/sandbox/tiers.ts";

const tiers = await availableTiers();

/** Addresses in private ranges, keyed by a host name that resolves to each. */
const hosts = {
  "ten.test": "10.1.2.3",
  "seventeen.test": "172.31.255.254",
  "home.test": "192.168.7.7",
  "carrier.test": "100.64.0.9",
  "local.test": "fd12::7",
  "translated.test": "64:ff9b:1::a01:203",
};

test.if(tiers.includes("srt"))(
  "a name on the allow-list leads into no private network, whatever range it resolves to",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "manyhands-hosts-"));
    const file = join(folder, "hosts");
    // The runtime reaches itself by this name.
    const lines = Object.entries({ localhost: "127.0.0.1", ...hosts }).map(([name, address]) => `${address} ${name}\n`);
    await writeFile(file, lines.join(""));
    // Replaces only the hosts file; nothing else differs.
    const there = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", file, "/etc/hosts", "--die-with-parent"];
    const asked = [
      process.execPath,
      join(import.meta.dir, "../../testing/sandbox/srt-process.ts"),
      ...Object.keys(hosts),
    ];
    const own = process.getuid?.() === 0 ? ["--cap-add", "ALL"] : [];
    const asking = Bun.spawn([...there, ...own, "--", ...asked], { stdin: "ignore", stderr: "pipe", timeout: 30_000 });
    const [answers, errors] = await Promise.all([
      new Response(asking.stdout).text(),
      new Response(asking.stderr).text(),
    ]);
    await asking.exited;

    const refused = answers
      .split("\n")
      .map((line) => /Connection to (\S+) blocked: resolved to a listed address/.exec(line)?.[1]);
    expect(refused.filter((name) => name !== undefined)).toEqual(Object.keys(hosts));
    expect(errors).toBe("");
    await rm(folder, { recursive: true });
  },
);
