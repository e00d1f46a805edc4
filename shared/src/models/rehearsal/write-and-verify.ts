import type { Acting, Scene, ScriptCall } from "./script.ts";

/** Calls that show a text file of the workspace, with the available tools. */
export function readersOf(scene: Scene, file: string): readonly ScriptCall[] {
  const readers: readonly ScriptCall[] = [
    { name: "bash", args: { command: `cat ${file}` } },
    { name: "str_replace_editor", args: { command: "view", path: file } },
    { name: "python_execute", args: { code: `print(open(${JSON.stringify(file)}).read())` } },
  ];
  return readers.filter((call) => scene.tools.has(call.name));
}

/**
 * Calls that write a text file of the workspace, with the available tools; the editor first, since
 * it can be undone.
 */
function writersOf(scene: Scene, file: string, text: string): readonly ScriptCall[] {
  const writers: readonly ScriptCall[] = [
    { name: "str_replace_editor", args: { command: "create", path: file, file_text: text } },
    { name: "bash", args: { command: `cat > ${file} <<'END_OF_REPORT'\n${text}END_OF_REPORT` } },
    { name: "python_execute", args: { code: `open(${JSON.stringify(file)}, "w").write(${JSON.stringify(text)})` } },
  ];
  return writers.filter((call) => scene.tools.has(call.name));
}

/**
 * Writes a file and reads it back, with one tool after another until it contains everything in
 * `must`. Returns whether it does.
 */
export function* writeAndVerify(
  scene: Scene,
  what: { readonly file: string; readonly text: string; readonly must: readonly string[]; readonly say: string },
  marks: readonly ScriptCall[],
): Acting<boolean> {
  let say = what.say;
  let extra = marks;
  for (const writer of writersOf(scene, what.file, what.text)) {
    yield { say, calls: [writer, ...extra] };
    extra = [];
    for (const reader of readersOf(scene, what.file)) {
      const [content = ""] = yield {
        say: `I read ${what.file} back to see that it holds the figures.`,
        calls: [reader],
      };
      if (what.must.every((text) => content.includes(text))) return true;
    }
    say = `${what.file} does not hold the figures. I write it another way.`;
  }
  return false;
}
