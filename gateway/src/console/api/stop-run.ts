import { runPath } from "./catalog.ts";
import { post, refusedAs } from "./client.ts";

/** Stops a run. Resolves to false if it had ended by itself, which is what the person wanted. */
export async function stopRun(id: string): Promise<boolean> {
  try {
    await post(`${runPath(id)}/cancel`, {});
    return true;
  } catch (error) {
    if (!refusedAs(error, "run_ended")) throw error;
    return false;
  }
}
