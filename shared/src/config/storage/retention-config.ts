import { durationMs } from "../duration.ts";
import type { Sections } from "../sections/sections.ts";

/** How long what has ended is kept, in milliseconds; undefined: for ever. */
export type RetentionConfig = {
  readonly runsMs: number | undefined;
  readonly journalsMs: number | undefined;
  readonly workspacesMs: number | undefined;
  readonly artifactsMs: number | undefined;
  readonly everyMs: number;
  /** The settings in one sentence, for the log. */
  readonly summary: string;
};

/** What `[retention]` says. */
export function retentionConfig(section: Sections["retention"]): RetentionConfig {
  const { runs, journals, workspaces, artifacts, every } = section;
  const told = (what: string, time: string) => {
    if (time === "never") return `${what} are kept`;
    return time === "0" ? `${what} are deleted at once` : `${what} are deleted after ${time}`;
  };
  const sentences = [
    told("ended runs", runs),
    told("their journals", journals),
    told("workspaces nobody opens", workspaces),
    told("files of no run", artifacts),
  ];
  return {
    runsMs: durationMs(runs),
    journalsMs: durationMs(journals),
    workspacesMs: durationMs(workspaces),
    artifactsMs: durationMs(artifacts),
    everyMs: durationMs(every) ?? 3_600_000,
    summary: `${sentences.join(", ")} ([retention])`,
  };
}
