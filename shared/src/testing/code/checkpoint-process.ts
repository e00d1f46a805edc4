import { join } from "node:path";
import { openWorkspace } from "../../machine/workspace/open-workspace.ts";
import { createCheckpointStore } from "../../tools/code/checkpoints/checkpoint-store.ts";

/** Started by the tests: changes a file and takes a checkpoint repeatedly, until it is killed. */
const [home = ""] = process.argv.slice(2);
const workspace = await openWorkspace({ home, principal: "alice", contextId: "c" });
const checkpoints = createCheckpointStore();
for (let round = 1; ; round++) {
  await Bun.write(join(workspace.root, "a.txt"), `${process.pid} ${round}\n`.repeat(5000));
  await checkpoints.take(workspace, { key: `${process.pid}/${round}`, tool: "bash", about: "" });
  if (round === 1) process.stdout.write("going\n");
}
