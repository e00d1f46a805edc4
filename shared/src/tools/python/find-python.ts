import { chown, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { makeOwnedFolder } from "../../machine/sandbox/owned-folder.ts";
import { runCommand } from "../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";

const deadlineMs = 10_000;

/** Libraries worth knowing of, by the names they are imported by. */
const wellKnown = [
  ...["numpy", "pandas", "polars", "pyarrow", "scipy", "sklearn", "statsmodels"],
  ...["matplotlib", "seaborn", "plotly", "PIL"],
  ...["openpyxl", "xlrd", "docx", "pptx", "pypdf", "bs4", "lxml", "requests", "yaml"],
];
const script = `
import json, platform
from importlib.util import find_spec
print(json.dumps({"version": platform.python_version(), "libraries": [n for n in ${JSON.stringify(wellKnown)} if find_spec(n)]}))`;

const found = z.object({ version: z.string(), libraries: z.array(z.string()) });

/** The Python that commands see, and which of the well-known libraries it has. */
export type Python = z.output<typeof found>;

/** The Python that commands of this sandbox see; undefined when there is none, and no Python tool then. */
export async function findPython(sandbox: Sandbox): Promise<Python | undefined> {
  if (sandbox.tier === "none") return undefined;
  const folder = await makeOwnedFolder(tmpdir(), "manyhands-python");
  const workspace = join(folder, "workspace");
  try {
    await mkdir(workspace);
    if (sandbox.user) await chown(workspace, sandbox.user.uid, sandbox.user.gid);
    const argv = ["python3", "-I", "-c", script];
    const signal = AbortSignal.timeout(2 * deadlineMs);
    const outcome = await runCommand(sandbox, { argv, workspace, limits: { wallMs: deadlineMs } }, { signal });
    return outcome.exitCode === 0 ? found.parse(JSON.parse(outcome.stdout)) : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
