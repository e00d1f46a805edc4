import { expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./config.ts";

test("a flow of the settings is a module, or another flow with the agents and options that are set", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "flow-config-"));
  const flowsOf = async (toml: string) => {
    await writeFile(join(cwd, "manyhands.toml"), toml);
    return (await loadConfig({ cwd, env: { MANYHANDS_HOME: join(cwd, "home") } })).flows;
  };
  try {
    const { added, composed } = await flowsOf(
      '[flows.own]\nentry = "own.ts"\n[flows.month-end]\nflow = "debate"\ntitle = "Month end"\ndescription = "Closes."\nagents = ["a", "b"]\noptions = { rounds = 3 }\n[flows.plain]\nflow = "debate"\n',
    );
    expect(Object.keys(added)).toEqual(["own"]);
    expect(composed["month-end"]).toMatchObject({
      flow: "debate",
      title: "Month end",
      description: "Closes.",
      origin: expect.stringContaining("manyhands.toml, line "),
    });
    expect(composed["month-end"]?.settings).toEqual({ agents: ["a", "b"], options: { rounds: 3 } });
    expect(composed.plain?.settings).toEqual({});
    for (const wrong of ['entry = "own.ts"\nflow = "debate"', 'agents = ["a"]'])
      await expect(flowsOf(`[flows.own]\n${wrong}\n`)).rejects.toThrow("[flows.own] needs either `entry`");
  } finally {
    await rm(cwd, { recursive: true });
  }
});
