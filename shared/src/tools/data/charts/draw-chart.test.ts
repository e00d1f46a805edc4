import { expect, test } from "bun:test";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cjkFontWarning } from "./draw-chart.ts";

test("without a font for Chinese, a PNG with Chinese text comes with a warning and an alternative", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fonts-"));
  const folders = [join(folder, "none"), folder];
  const onLinux = process.platform === "linux";
  expect(cjkFontWarning("销售额", folders) !== undefined).toBe(onLinux);
  if (onLinux) expect(cjkFontWarning("売上", folders)).toContain("output_type svg or html");
  expect(cjkFontWarning("Umsatz (€)", folders)).toBeUndefined();
  await mkdir(join(folder, "truetype/wqy"), { recursive: true });
  await writeFile(join(folder, "truetype/URWGothic-Demi.otf"), "");
  expect(cjkFontWarning("销售额", folders) !== undefined).toBe(onLinux);
  await writeFile(join(folder, "truetype/wqy/wqy-microhei.ttc"), "");
  expect(cjkFontWarning("销售额", folders)).toBeUndefined();
  await rm(folder, { recursive: true });
});
