import { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import { findPython } from "../../shared/src/tools/python/find-python.ts";

/** A server that starts, over the home it is told, as often as it is let. */
const [, , folder = ""] = process.argv;
process.stdout.write("starting\n");
for (;;) {
  const sandbox = await createSandbox({ mode: "auto", folder });
  await findPython(sandbox);
  await sandbox.close();
}
