import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "manyhands/internal/http/free-port";
import { type ScriptedModel, startScriptedModel } from "manyhands/internal/testing/models/scripted-model";
import { rpc } from "../a2a/rpc.ts";
import { type AgentServer, startManus } from "../servers/manus-server.ts";

type Call = { readonly name: string; readonly args: Record<string, unknown> };

const folder = ".manyhands/skills";
const bash = (command: string): Call => ({ name: "bash", args: { command } });
const skill = (name: string): Call => ({ name: "use_skill", args: { name } });

const report = `# Returns rose by a third in March

## Summary
Returns rose from 30 to 40.

## Findings
| Month | Returns |
| --- | --- |
| Feb | 30 |
| Mar | 40 |

## Limits
Two months only.

## Sources
The user's message.
`;

const commit = (text: string) =>
  `git -C app -c user.name=A -c user.email=a@example.com commit -q --allow-empty -m '${text}'`;

/** A task for each skill, done as the skill says: its calls, and what their results have to say. */
const tasks: Readonly<Record<string, readonly (readonly [Call, string])[]>> = {
  "docx-report": [
    [skill("docx-report"), "write_document"],
    [bash(`cat > report.md <<'END'\n${report.replace("Two months only.", "TODO")}END\ntrue`), ""],
    [bash(`python3 ${folder}/docx-report/scripts/check_report.py report.md`), "has a placeholder"],
    [
      bash(`sed -i s/TODO/Two\\ months/ report.md; python3 ${folder}/docx-report/scripts/check_report.py report.md`),
      "Nothing to fix",
    ],
    [{ name: "write_document", args: { path: "report.docx", markdown: report } }, "report.docx"],
    [bash("rm report.md"), ""],
  ],
  "data-quality-check": [
    [skill("data-quality-check"), "check_table.py"],
    [bash("printf 'id;on;n\\n1;2024-01-01;5\\n2;01.02.2024;\\n2;01.02.2024;x\\n' > t.csv"), ""],
    [
      bash(`python3 ${folder}/data-quality-check/scripts/check_table.py t.csv --key id`),
      "rows are there before by their key: lines 4",
    ],
  ],
  "release-notes": [
    [skill("release-notes"), "collect_commits.py"],
    [
      bash(
        `git init -q app && ${commit("feat: one")} && git -C app tag v1 && ${commit("fix(ui)!: two")} && ${commit("feat: three")}`,
      ),
      "",
    ],
    [bash(`python3 ${folder}/release-notes/scripts/collect_commits.py app v1`), "2 commits in v1..HEAD"],
  ],
  "web-form-filler": [
    [skill("web-form-filler"), "browser_fill_form"],
    [
      { name: "str_replace_editor", args: { command: "view", path: `${folder}/web-form-filler/references/fields.md` } },
      "read in two ways",
    ],
  ],
};

let home: string;
let model: ScriptedModel;
let manus: AgentServer;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "manyhands-skills-"));
  await chmod(home, 0o711);
  model = await startScriptedModel(({ messages }) => {
    const task = messages.map(({ content }) => /USE ([\w-]+)/.exec(JSON.stringify(content ?? ""))?.[1]).find(Boolean);
    const done = messages.filter(({ role }) => role === "tool").length;
    const [call] = tasks[task ?? ""]?.[done] ?? [];
    return call === undefined ? { text: "Done." } : { calls: [call] };
  });
  manus = startManus({
    MANYHANDS_HOME: home,
    PORT: `${freePort()}`,
    OPENAI_BASE_URL: model.url,
    OPENAI_API_KEY: "none",
    MANYHANDS_MODEL: "scripted",
  });
  await manus.ready;
});
afterAll(async () => {
  await manus.stop();
  await model.close();
  await rm(home, { recursive: true, force: true });
});

test.each(Object.keys(tasks))("a task is done with the skill %s from its prompt to its files", async (name) => {
  const before = model.requests.length;
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text: `USE ${name}` }] };
  const { body } = await rpc(manus.url, "SendMessage", { message });
  const { task } = body.result ?? {};
  expect(task?.status.state).toBe("TASK_STATE_COMPLETED");
  const requests = model.requests.slice(before).map((exchange) => exchange.body);
  const shown = requests.map(
    ({ tools = [] }) => tools.find((tool) => tool.function.name === "use_skill")?.function.description,
  );
  expect(new Set(shown).size).toBe(1);
  expect(shown[0]).toContain(`- ${name}: `);
  const results = (requests.at(-1)?.messages ?? []).filter(({ role }) => role === "tool");
  expect(results.map(({ content }) => String(content))).toEqual(
    tasks[name]?.map(([, said]) => expect.stringContaining(said)) ?? [],
  );
  const files = JSON.stringify(task?.artifacts ?? []);
  expect(files).not.toContain(".manyhands");
  expect(files.includes("report.docx")).toBe(name === "docx-report");
});
