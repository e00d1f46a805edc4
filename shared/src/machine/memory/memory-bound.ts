import { bytesInWords } from "../sandbox/limits.ts";

/** The memory bound of one command, together with that of the others of its conversation. */
export interface MemoryBound {
  /** The bound, in words, for which a process of the command was killed since the last call. */
  hit(): Promise<string | undefined>;
  /** Releases the bound; the command's processes must have ended. */
  remove(): Promise<void>;
}

/** The bound of one command or session, in words. */
export function commandBound(bytes: number): string {
  return `memory ${bytesInWords(bytes)}`;
}

/** The bound that all commands and sessions of a conversation share, in words. */
export function conversationBound(bytes: number): string {
  return `memory ${bytesInWords(bytes)} of all commands of the conversation together`;
}
