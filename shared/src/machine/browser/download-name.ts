const longestBytes = 120;

/** A file name that is safe in any folder, made of what a server suggested: no path, no control or direction characters, not hidden, not long. */
export function downloadName(suggested: string): string {
  const last = suggested.split(/[/\\]/).at(-1) ?? "";
  const clean = last
    .normalize("NFC")
    .replace(/[\p{C}\p{Zl}\p{Zp}<>:"|?*]/gu, "_")
    .replace(/^[.\s]+|[.\s]+$/g, "");
  const { stem, extension } = parts(clean === "" ? "download" : clean);
  return cut(stem, longestBytes - Buffer.byteLength(extension)) + extension;
}

/** The same name with a number, for when it is taken. */
export function numbered(name: string, count: number): string {
  const { stem, extension } = parts(name);
  return `${stem}-${count}${extension}`;
}

function parts(name: string): { stem: string; extension: string } {
  const extension = /(?:\.tar)?\.[\p{L}\p{N}]{1,10}$/u.exec(name)?.[0] ?? "";
  return { stem: name.slice(0, name.length - extension.length) || "download", extension };
}

function cut(text: string, bytes: number): string {
  let kept = "";
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return kept;
}
