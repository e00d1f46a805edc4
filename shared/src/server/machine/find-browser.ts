import { join } from "node:path";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../core/errors.ts";
import { findChromium } from "../../machine/browser-process/find-chromium.ts";
import { sweepServerFolders } from "../../machine/browser-process/server-folder.ts";

/**
 * Why a server has no browser; undefined if it can start one. Removes what killed servers left of
 * theirs. Rejects with `config_invalid` if the configured program is missing.
 */
export async function browserMissing({ home, browser }: Pick<Config, "home" | "browser">): Promise<string | undefined> {
  const { enabled, cdp_url, wss_url, headless } = browser;
  await sweepServerFolders(join(home, "browser"));
  if (!enabled) return "The browser is switched off (browser.enabled).";
  if (cdp_url !== undefined || wss_url !== undefined) return undefined;
  try {
    await findChromium({
      executable: browser.chrome_instance_path,
      headless,
      userDataDir: browser.user_data_dir,
    });
    return undefined;
  } catch (error) {
    if (error instanceof AppError && error.code === "unavailable") return error.message;
    throw error;
  }
}
