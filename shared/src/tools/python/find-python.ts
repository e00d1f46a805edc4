import { chown, mkdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { makeOwnedFolder } from "../../machine/process/owned-folder.ts";
import { type CommandOutcome, outcomeOf } from "../../machine/sandbox/run-command.ts";
import type { Sandbox } from "../../machine/sandbox/sandbox.ts";

const deadlineMs = 10_000;

/** Well-known libraries, by their import names, those that agents ask for most first. */
const wellKnown = [
  ...["numpy", "pandas", "scipy", "matplotlib", "openpyxl", "pypdf", "pdfplumber"],
  ...["polars", "pyarrow", "sklearn", "statsmodels", "seaborn", "plotly", "PIL"],
  ...["xlrd", "docx", "pptx", "bs4", "lxml", "requests", "yaml"],
];
const scriptFor = (names: readonly string[]) => `
import json, platform, sys
from importlib.util import find_spec
print(json.dumps({"version": platform.python_version(), "libraries": [n for n in ${JSON.stringify(names)} if find_spec(n)], "folders": sys.path}))`;

/** The form of a `Python`. */
export const pythonShape = z.object({
  version: z.string(),
  libraries: z.array(z.string()),
  /** Where it looks for libraries. */
  folders: z.array(z.string()),
});

/** The Python that commands see, and which of the well-known libraries it has. */
export type Python = z.output<typeof pythonShape>;

/**
 * The result of looking for a Python: undefined when there is none, in which case there is no
 * Python tool.
 */
export type PythonLook = { readonly found: Promise<Python | undefined> };

/** The Python that commands of this sandbox see. */
export async function findPython(sandbox: Sandbox): Promise<Python | undefined> {
  const { found } = await lookForPython(sandbox);
  return found;
}

/**
 * Looks for that Python, and in it for the well-known libraries and these packages. Resolves once
 * the search is under way: from then on the search needs nothing from this process, which may load
 * its code meanwhile.
 */
export async function lookForPython(sandbox: Sandbox, packages: readonly string[] = []): Promise<PythonLook> {
  if (sandbox.tier === "none") return { found: Promise.resolve(undefined) };
  const folder = await makeOwnedFolder(tmpdir(), "manyhands-python");
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  try {
    const workspace = join(folder, "workspace");
    await mkdir(workspace);
    if (sandbox.user) await chown(workspace, sandbox.user.uid, sandbox.user.gid);
    const argv = ["python3", "-I", "-c", scriptFor([...new Set([...packages.map(importName), ...wellKnown])])];
    const process = await sandbox.spawn({ argv, workspace, limits: { wallMs: deadlineMs } });
    const signal = AbortSignal.timeout(2 * deadlineMs);
    const found = outcomeOf(process, { signal }).then(pythonOf).finally(removeFolder);
    // Callers that await `found` still get the error.
    found.catch(() => undefined);
    return { found };
  } catch (error) {
    await removeFolder();
    throw error;
  }
}

/** Well-known packages that are imported by another name. */
const importedAs = new Map([
  ["beautifulsoup4", "bs4"],
  ["opencv_python", "cv2"],
  ["pillow", "PIL"],
  ["python_dateutil", "dateutil"],
  ["python_docx", "docx"],
  ["python_pptx", "pptx"],
  ["pyyaml", "yaml"],
  ["scikit_learn", "sklearn"],
]);

/** What a package is most likely imported by. */
export function importName(requirement: string): string {
  const name = (/^[\w.-]+/.exec(requirement)?.[0] ?? "").replaceAll(/[.-]/g, "_").toLowerCase();
  return importedAs.get(name) ?? name;
}

function pythonOf({ exitCode, stdout }: CommandOutcome): Python | undefined {
  return exitCode === 0 ? pythonShape.parse(JSON.parse(stdout)) : undefined;
}
