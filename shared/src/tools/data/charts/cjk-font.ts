const cjk = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const fontFile =
  "**/{*CJK*,wqy-*,*Hei*,*Song*,*Mincho*,ipa*,Takao*,Nanum*,SourceHan*,DroidSansFallback*,unifont*}.{ttf,ttc,otf,pcf}";
const fontFolders = ["/usr/share/fonts", "/usr/local/share/fonts"];
const warning =
  `No font here shows Chinese, Japanese or Korean: in this PNG those characters are boxes. Draw it again with output_type svg or html, which the
reader's own fonts show (the machine's owner can install one: fonts-wqy-microhei).`.replaceAll("\n", " ");

/** A warning when a text has Chinese, Japanese or Korean in it and this machine has no font that shows it; undefined otherwise. */
export function cjkFontWarning(text: string, folders: readonly string[] = fontFolders): string | undefined {
  if (process.platform !== "linux" || !cjk.test(text)) return undefined;
  const found = folders.some((cwd) => {
    try {
      return !new Bun.Glob(fontFile).scanSync({ cwd, followSymlinks: true }).next().done;
    } catch {
      return false;
    }
  });
  return found ? undefined : warning;
}
