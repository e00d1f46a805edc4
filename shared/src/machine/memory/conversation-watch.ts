import { readFileSync } from "node:fs";
import { descendants, readProcessTable, sendSignal } from "../kernel/process-table.ts";
import { conversationBound, type MemoryBound } from "./memory-bound.ts";

/**
 * Bounds the memory of conversations where no control group can: by polling, and ending the largest
 * process.
 */
export type ConversationWatch = { add(conversation: string, started: number): MemoryBound };

type Member = { readonly conversation: string; readonly started: number; ended: number };

type Held = { readonly member: Member; readonly pid: number; readonly bytes: number };

const everyMs = 250;

/**
 * Watches what the processes of each conversation hold together, those that were started for it and
 * their descendants. Checks four times a second while there are any, so they may exceed `most`
 * bytes for a moment. Memory that no process has mapped (files in an in-memory `/tmp`) is not
 * counted.
 */
export function createConversationWatch(most: number): ConversationWatch {
  const members = new Set<Member>();
  let timer: ReturnType<typeof setInterval> | undefined;
  const look = () => {
    const table = readProcessTable();
    for (const one of Map.groupBy(members, ({ conversation }) => conversation).values()) {
      const held = one.flatMap((member) =>
        [member.started, ...descendants(table, member.started)].map(
          (pid): Held => ({ member, pid, bytes: table.get(pid)?.residentBytes ?? 0 }),
        ),
      );
      if (total(held) > most) endLargest(held, most);
    }
  };
  return {
    add(conversation, started) {
      const member: Member = { conversation, started, ended: 0 };
      members.add(member);
      timer ??= setInterval(look, everyMs);
      timer.unref();
      let told = 0;
      return {
        async hit() {
          if (member.ended === told) return undefined;
          told = member.ended;
          return conversationBound(most);
        },
        async remove() {
          members.delete(member);
          if (members.size > 0) return;
          clearInterval(timer);
          timer = undefined;
        },
      };
    },
  };
}

/** Shared memory is counted once here; the regular check counts it for each process. */
function endLargest(held: readonly Held[], most: number): void {
  const measured = held.map((one) => ({ ...one, bytes: proportionalBytes(one.pid) ?? one.bytes }));
  let left = total(measured);
  for (const { member, pid, bytes } of measured.sort((one, other) => other.bytes - one.bytes)) {
    if (left <= most) return;
    sendSignal(pid, "SIGKILL");
    member.ended += 1;
    left -= bytes;
  }
}

function total(held: readonly Held[]): number {
  return held.reduce((sum, { bytes }) => sum + bytes, 0);
}

/**
 * What a process holds, with its share of shared memory; undefined where the kernel does not report
 * it.
 */
function proportionalBytes(pid: number): number | undefined {
  try {
    const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
  } catch {
    return undefined;
  }
}
