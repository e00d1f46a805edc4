import { createSandbox } from "manyhands/internal/machine/confinement/create-sandbox";
import { endAbandonedStarts } from "../../shared/src/machine/confinement/abandoned-starts.ts";
import { findPython } from "../../shared/src/tools/python/find-python.ts";

/** A server that starts over the given home, repeatedly, as often as it is allowed. */
const [, , folder = ""] = process.argv;
process.stdout.write("starting\n");
endAbandonedStarts(folder);
for (;;) {
  const sandbox = await createSandbox({ mode: "auto", folder });
  await findPython(sandbox);
  await sandbox.close();
}
