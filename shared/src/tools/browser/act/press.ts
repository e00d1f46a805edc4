import type { ElementHandle } from "playwright";
import { describeCover } from "../in-page/describe-cover.ts";
import { actMs } from "./perform.ts";

type Press = NonNullable<Parameters<ElementHandle["click"]>[0]>;
type Where = Pick<Press, "position" | "modifiers">;

/** How long an element that moves is given to come to rest, in milliseconds. */
const restMs = 1_500;

/**
 * Clicks an element as a hand does: the mouse is on it first, so that what a page changes under the mouse is done before the button goes down. An
 * element that never rests is clicked where it is.
 */
export async function press(handle: ElementHandle, how: Press): Promise<void> {
  const { position, modifiers } = how;
  const rests = await moveOnto(handle, { ...(position && { position }), ...(modifiers && { modifiers }) });
  await handle.click({ ...how, force: !rests, timeout: actMs - restMs });
}

/** Moves the mouse onto an element, also one that never rests; answers whether it rests. */
export async function moveOnto(handle: ElementHandle, where: Where = {}): Promise<boolean> {
  try {
    await handle.hover({ ...where, timeout: restMs });
    return true;
  } catch (error) {
    const moves = error instanceof Error && /element is not stable/.test(error.message);
    const free = moves && (await handle.evaluate(describeCover)) === "";
    await handle.hover({ ...where, force: free, timeout: actMs - restMs });
    return !free;
  }
}
