import type { RiskContext } from "../../../core/tools/tool.ts";
import { quoted } from "../../risk/judge-action.ts";
import type { GitHosts } from "../git-host.ts";

/**
 * Why a person should decide about reading this repository: a token opens more than everybody sees,
 * and neither the user nor the asking agent named it. Undefined otherwise.
 */
export function unnamedRepository(
  address: string,
  hosts: GitHosts,
  { said, given }: Pick<RiskContext, "said" | "given">,
): string | undefined {
  const found = hosts.find(address.trim());
  if (found?.host.token === undefined) return undefined;
  const [host, path] = [found.host.host, found.path].map((text) => RegExp.escape(text));
  const named = new RegExp(`(?<![\\w.~/-])(?:${host}/)?${path}(?:\\.git)?(?![\\w~-]|\\.\\w)`, "i");
  if ([...said, ...given].some((text) => named.test(text.replaceAll(/https?:\/\//gi, " ")))) return undefined;
  return `Read the repository ${quoted(`${found.host.host}/${found.path}`)} with the token of the settings, which you did not name`;
}
