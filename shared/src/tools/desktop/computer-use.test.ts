import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "../../core/tools/tool.ts";
import { openDesktop } from "../../server/machine/open-desktop.ts";
import { availableTiers, eventually, type OpenTier, openTier, processesNamed } from "../../testing/sandbox/tiers.ts";
import type { SessionPool } from "../shell/session-pool.ts";
import { computerUse } from "./computer-use.ts";
import { createDisplays, displayTiers } from "./display-session.ts";
import { displayPrograms, missingPrograms } from "./missing-programs.ts";

const size = { width: 800, height: 600 };
const enabled = { enabled: true, ...size };
const tiers = (await availableTiers()).filter((tier) => displayTiers.includes(tier));
/** Besides what a display needs, two programs that open a window. */
const lacking = await missingHere([...displayPrograms, "xterm", "xev"]);
const displayable = lacking.length === 0 ? tiers.slice(-1) : [];

async function missingHere(names: readonly string[]): Promise<readonly string[]> {
  const { sandbox, close } = await openTier("auto");
  const missing = sandbox.tier === "none" ? names : await missingPrograms(sandbox, names);
  await close();
  return missing;
}

test("missing programs are named", async () => {
  expect(await missingHere(["bash", "no-such-program"])).toContain("no-such-program");
});

test("there is no desktop unless it is enabled; if it is not available, that is reported", async () => {
  const { sandbox, close } = await openTier("auto");
  expect(await openDesktop({ ...enabled, enabled: false }, sandbox)).toEqual({ tools: [], close: expect.anything() });
  const { tools, note, close: closeDesktop } = await openDesktop(enabled, sandbox);
  const can = displayTiers.includes(sandbox.tier) && !displayPrograms.some((name) => lacking.includes(name));
  expect(tools.map(({ name }) => name)).toEqual(can ? ["computer_use"] : []);
  if (can) expect(note).toBeUndefined();
  else expect(note).toMatch(/^computer_use is off: .*(apt-get install|needs a sandbox)/);
  await closeDesktop();
  await close();
});

test("without a sandbox, or in one without its own sockets, there is no desktop", async () => {
  for (const mode of ["off", "landlock"] as const) {
    const { sandbox, close } = await openTier(mode);
    const { tools, note } = await openDesktop(enabled, sandbox);
    expect(tools).toEqual([]);
    expect(note).toContain(`needs a sandbox of tier srt or bwrap, and this one is ${sandbox.tier}`);
    await close();
  }
});

describe.each(displayable)("a display on tier %s", (tier) => {
  let open: OpenTier;
  let displays: SessionPool;
  const mark = `5${Math.floor(Math.random() * 1e9)}`;
  const call = (input: Record<string, unknown>, changes: Partial<ToolContext> = {}, pool = displays) =>
    computerUse({ displays: pool, size }).call(input, open.context("conversation", changes));
  const fileText = async (name: string) => {
    const file = Bun.file(join(open.workspace, name));
    return (await file.exists()) ? file.text() : "";
  };
  const fileSays = (name: string, text: string) =>
    eventually(`${name} holds ${text}`, async () => (await fileText(name)).includes(text));

  beforeAll(async () => {
    open = await openTier(tier);
    displays = createDisplays(open.sandbox, size);
  });
  afterAll(async () => {
    await displays.close();
    await open.close();
  });

  test("typed text arrives unchanged, and no shell parses it", async () => {
    const shown = "until xdotool search --onlyvisible --class xterm >shown; do sleep 0.1; done";
    const command = `exec xterm -geometry 80x24+0+0 -e bash -c '${shown}; IFS= read -r line; printf %s "$line" >typed'`;
    expect(await call({ action: "launch", command })).toEqual({
      text: "Started. Take a screenshot to see it.",
      isError: false,
    });
    await eventually("the terminal is there", async () => (await fileText("shown")) !== "");
    await call({ action: "click", x: 200, y: 200 });
    const text = "--file $(touch a) `touch b` ; \"x\" 'y' \\ & é -";
    expect(await call({ action: "typing", text: `${text}\n` })).toMatchObject({ isError: false });
    await eventually("the line is read", async () => (await fileText("typed")) !== "");
    expect(await fileText("typed")).toBe(text);
    expect((await readdir(open.workspace)).filter((name) => /^[ab]$/.test(name))).toEqual([]);
  });

  test("mouse and keys reach the program under the pointer", async () => {
    await call({ action: "launch", command: "xev -geometry 400x400+0+0 >events 2>&1" });
    await fileSays("events", "Expose event");
    await call({ action: "click", x: 200, y: 250, button: "right", num_clicks: 2 });
    await fileSays("events", "ButtonRelease");
    expect((await fileText("events")).match(/ButtonPress event[\s\S]*?button 3/g)).toHaveLength(2);
    await call({ action: "scroll", amount: -2, x: 210, y: 251 });
    await fileSays("events", "button 5");
    expect(await fileText("events")).toContain("root:(210,251)");
    await call({ action: "move_to", x: 100, y: 120 });
    expect((await call({ action: "drag_to", x: 300, y: 220 })).text).toBe("Dragged from (100, 120) to (300, 220).");
    await fileSays("events", "root:(300,220),\n    state 0x100, button 1");
    await call({ action: "press", key: "f5" });
    await call({ action: "hotkey", keys: "ctrl+c" });
    await fileSays("events", "keysym 0xffc2, F5");
    await fileSays("events", "state 0x4, keycode 54 (keysym 0x63, c)");
  });

  test("letters that a keyboard lacks keep their keys, however late a program looks them up", async () => {
    await call({ action: "launch", command: "xev -geometry 400x400+0+0 >letters 2>&1" });
    await fileSays("letters", "FocusIn event");
    const text = "Łąké Щёґ… “ñ”";
    await call({ action: "typing", text });
    await fileSays("letters", `"${text.at(-1)}"`);
    const events = await fileText("letters");
    const pressed = events.matchAll(/^KeyPress.*\n.*\n.*\n +XLookupString gives . bytes: .* "(.)"/gm);
    expect(Array.from(pressed, ([, letter]) => letter).join("")).toBe(text);
    expect(events).not.toContain("MappingNotify");
  });

  test("a screenshot is returned and saved where no user finds it, and shows the screen", async () => {
    await call({ action: "move_to", x: 700, y: 500 });
    const { text, images, isError } = await call({ action: "screenshot" });
    const path = /saved as (\.manyhands\/output\/\S+\.png)\.$/.exec(text)?.[1] ?? "";
    expect([isError, text]).toEqual([false, `The screen (800 × 600, pointer at (700, 500)), saved as ${path}.`]);
    const saved = Buffer.from(await Bun.file(join(open.workspace, path)).bytes());
    expect(images).toEqual([{ type: "image", mediaType: "image/png", data: saved.toString("base64") }]);
    expect(await new Bun.Image(saved).metadata()).toEqual({ ...size, format: "png" });
    // A picture of a single color would be a few hundred bytes.
    expect(saved.length).toBeGreaterThan(1500);
  });

  test("a program that fails to start is reported with its output", async () => {
    expect(await call({ action: "launch", command: "no-such-program --at-all" })).toMatchObject({
      isError: true,
      text: expect.stringContaining("no-such-program: command not found"),
    });
    expect((await call({ action: "launch", command: "echo done" })).text).toBe("done\n[it ended with exit code 0]");
    expect(await call({ action: "click", x: 900, y: 1 })).toMatchObject({ isError: true });
    expect(await call({ action: "typing", text: "a\0b" })).toMatchObject({ isError: true });
  });

  test("programs find the system's themes and fonts", async () => {
    const { text } = await call({ action: "launch", command: "ls /etc/X11/app-defaults" });
    expect(text.split("\n")).toContain("XTerm");
  });

  test("the display reaches no network and leaves no socket outside", async () => {
    const before = await Array.fromAsync(new Bun.Glob("X*").scan({ cwd: "/tmp/.X11-unix", onlyFiles: false })).catch(
      () => [],
    );
    await call({
      action: "launch",
      command: `(id -u; ls /tmp/.X11-unix; ls /sys/class/net; ls ${homedir()}) >inside 2>&1`,
    });
    await fileSays("inside", "cannot");
    const inside = await fileText("inside");
    expect(inside).toContain("X0");
    expect(inside.split("\n")[0]).not.toBe("0");
    const after = await Array.fromAsync(new Bun.Glob("X*").scan({ cwd: "/tmp/.X11-unix", onlyFiles: false })).catch(
      () => [],
    );
    expect(after).toEqual(before);
  });

  test("another conversation has another screen", async () => {
    const root = await open.folder("other");
    const workspace = { ...open.context("other").workspace, root };
    await call({ action: "launch", command: "exec xev -name apart >other-events" });
    await fileSays("other-events", "Expose event");
    const look = { action: "launch", command: "xdotool search --name apart" };
    expect((await call(look)).text).toMatch(/^\d+\n/);
    expect(await call(look, { workspace })).toMatchObject({ isError: true });
    await displays.release(workspace);
  });

  test("a cancellation ends display and programs, and the next call says that they are gone", async () => {
    const controller = new AbortController();
    const reason = new Error("canceled by the person");
    await call({ action: "launch", command: `sleep ${mark}` });
    await eventually("the program runs", async () => (await processesNamed(mark)).length > 0);
    const waiting = call({ action: "launch", command: `sleep ${mark}1` }, { signal: controller.signal });
    await eventually("the second runs", async () => (await processesNamed(`${mark}1`)).length > 0);
    controller.abort(reason);
    expect(await waiting.catch((error) => error)).toBe(reason);
    await eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);
    const { text } = await call({ action: "move_to", x: 1, y: 1 });
    expect(text).toBe(
      "[new screen, earlier programs are gone: the call before was canceled]\nMoved the pointer to (1, 1).",
    );
  });

  test("a wait ends with the signal", async () => {
    const started = performance.now();
    const signal = AbortSignal.timeout(50);
    expect(await call({ action: "wait", duration: 10 }, { signal }).catch((error) => error)).toBe(signal.reason);
    expect(performance.now() - started).toBeLessThan(9_000);
    expect((await call({ action: "wait", duration: 0 })).text).toBe("Waited 0 s.");
  });

  test.each([
    ["idle", async () => {}],
    ["released", (brief) => computerUse({ displays: brief, size }).release?.(open.context("conversation").workspace)],
    ["closed", (brief) => brief.close()],
  ] satisfies [string, (brief: SessionPool) => Promise<void> | undefined][])(
    "%s, a display leaves no process",
    async (how, end) => {
      const brief = createDisplays(open.sandbox, size, how === "idle" ? { idleMs: 100 } : {});
      await call({ action: "launch", command: `sleep ${mark}` }, {}, brief);
      await end(brief);
      await eventually("everything is gone", async () => (await processesNamed(mark)).length === 0);
      await brief.close();
    },
  );
});
