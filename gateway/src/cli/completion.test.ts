import { expect, test } from "bun:test";
import { cliForTest } from "../testing/cli.ts";

/** What a bash with the script offers after these words. */
async function offered(script: string, ...words: readonly string[]): Promise<string[]> {
  const array = ["manyhands", ...words].map((word) => JSON.stringify(word)).join(" ");
  const ask = `${script}\nCOMP_WORDS=(${array}); COMP_CWORD=${words.length}; _manyhands; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const child = Bun.spawn(["bash", "-c", ask], { stdout: "pipe", stderr: "inherit" });
  return (await child.stdout.text()).trim().split("\n");
}

test("the completion script offers the commands, those of a group, and their options", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("completion", "bash")).toBe(0);
  const script = cli.out();
  expect(await offered(script, "r")).toEqual(["run", "runs", "restore"]);
  expect(await offered(script, "runs", "")).toEqual(expect.arrayContaining(["list", "show", "cancel"]));
  expect(await offered(script, "runs", "list", "--fl")).toEqual(["--flow"]);
  expect(await offered(script, "run", "--json", "--bud")).toEqual(["--budget-usd"]);
  expect(await offered(script, "completion", "z")).toEqual(["zsh"]);
});

test("there are scripts for zsh and fish, and no others", async () => {
  await using cli = await cliForTest({});
  expect(await cli.run("completion", "zsh")).toBe(0);
  expect(cli.out()).toStartWith("autoload -U +X bashcompinit && bashcompinit\n");
  expect(await cli.run("completion", "fish")).toBe(0);
  expect(cli.out()).toContain("complete -c manyhands -n '__fish_seen_subcommand_from runs' -a list");
  expect(await cli.run("completion", "csh")).toBe(2);
});
