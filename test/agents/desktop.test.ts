import { expect, test } from "bun:test";
import { type Attack, startAttacked } from "../attacks/obedient-model.ts";

const size = { MANYHANDS_DESKTOP_WIDTH: "800", MANYHANDS_DESKTOP_HEIGHT: "600" };
const calls: readonly Attack[] = [
  { name: "computer_use", args: { action: "move_to", x: "400", y: 300 } },
  { name: "computer_use", args: { action: "screenshot" } },
  { name: "bash", args: { command: "cp .manyhands/output/*.png seen.png" } },
  { name: "see_image", args: { path: "seen.png" } },
];

/**
 * Runs a task on Manus with these settings; returns the tools its model was offered, and what it
 * read.
 */
async function taskWith(env: Record<string, string>) {
  const attacked = await startAttacked({ ...env, MANYHANDS_LLM_CAPABILITIES_VISION: "true" });
  try {
    const { sandbox } = (await (await fetch(`${attacked.manus.url}/healthz`)).json()) as { sandbox: string };
    const results = await attacked.obey("screen", calls);
    const { body } = attacked.model.requests[0] ?? {};
    const last = JSON.stringify(attacked.model.requests.at(-1)?.body.messages.at(-1));
    return { results, offered: body?.tools?.map((tool) => tool.function.name) ?? [], last, sandbox };
  } finally {
    await attacked.close();
  }
}

test("Manus has no screen unless it is enabled", async () => {
  const { offered, results } = await taskWith({});
  expect(offered).toContain("see_image");
  expect(offered).not.toContain("computer_use");
  expect(results[0]).toContain('There is no tool named "computer_use"');
});

test("with the desktop enabled, a model sees the screen it uses, if the machine has the programs", async () => {
  const { offered, results, last, sandbox } = await taskWith({ MANYHANDS_DESKTOP_ENABLED: "true", ...size });
  if (!offered.includes("computer_use")) {
    const has = ["srt", "bwrap"].includes(sandbox) && Bun.which("Xvfb") && Bun.which("xdotool");
    expect(has).toBeFalsy();
    return;
  }
  expect(results[0]).toBe("Moved the pointer to (400, 300).");
  expect(results[1]).toMatch(
    // The newer image of the last call took its place.
    /^The screen \(800 × 600, pointer at \(400, 300\)\), saved as \.manyhands\/output\/\S+\.png\.\n\[The image is no longer shown\.\]$/,
  );
  expect(results[3]).toBe("seen.png: png, 800 × 600 pixels.");
  expect(last).toContain("Images from see_image");
  expect(last).toContain("data:image/png;base64,");
});
