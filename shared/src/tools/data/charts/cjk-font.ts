const cjk = /[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]/;
const fontFile = "**/*{cjk,CJK,wqy,Hei,Song,Gothic,DroidSansFallback,unifont}*.{ttf,ttc,otf,pcf}";

/** A warning when a text has Chinese, Japanese or Korean in it and this machine has no font that shows it; undefined otherwise. */
export function cjkFontWarning(text: string): string | undefined {
  if (process.platform !== "linux" || !cjk.test(text)) return undefined;
  const folders = ["/usr/share/fonts", "/usr/local/share/fonts"];
  const found = folders.some((cwd) => {
    try {
      return !new Bun.Glob(fontFile).scanSync({ cwd, followSymlinks: true }).next().done;
    } catch {
      return false;
    }
  });
  return found ? undefined : "No font here shows Chinese, Japanese or Korean: in the PNG those characters are boxes.";
}
