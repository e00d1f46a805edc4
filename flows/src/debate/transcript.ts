import type { Flow } from "manyhands/flows";
import type { DebateState } from "./debate-state.ts";
import type { JudgeVerdict } from "./judge.ts";
import { positionsText } from "./turn-text.ts";

/**
 * Publishes the debate so far as the artifact `transcript.md`, with the verdict once there is one.
 */
export function publishTranscript(flow: Flow, debate: DebateState, verdict?: JudgeVerdict): void {
  flow.artifact("transcript.md", [{ type: "text", text: transcriptText(debate, verdict), mediaType: "text/markdown" }]);
}

/**
 * The debate as Markdown: positions, every round with its arguments and absences, and the verdict.
 */
export function transcriptText(debate: DebateState, verdict: JudgeVerdict | undefined): string {
  const rounds = Array.from({ length: debate.round }, (_, index) => roundText(debate, index + 1));
  return [
    "# Debate",
    debate.question,
    `## Positions\n\n${positionsText(debate.debaters)}`,
    ...rounds,
    ...(verdict === undefined ? [] : [`## Verdict\n\n${verdictText(verdict)}`]),
  ].join("\n\n");
}

/** A verdict as text for people. */
export function verdictText({ decision, confidence, reasons, dissent, citations }: JudgeVerdict): string {
  return [
    decision,
    `Confidence: ${confidence}`,
    `Because:\n${reasons.map((reason) => `- ${reason}`).join("\n")}`,
    ...(dissent === "" ? [] : [`Against it: ${dissent}`]),
    `It rests on ${citations.map((number) => `[${number}]`).join(", ")}.`,
  ].join("\n\n");
}

function roundText(debate: DebateState, round: number): string {
  const said = debate.arguments
    .filter((argument) => argument.round === round)
    .map(({ number, debater: { name, agent }, text }) => `### [${number}] ${name} (${agent})\n\n${text}`);
  const missed = debate.absences
    .filter((absence) => absence.round === round)
    .map(({ debater: { name, agent }, reason }) => `_${name} (${agent}) was absent: ${reason}_`);
  return [`## Round ${round}`, ...said, ...missed].join("\n\n");
}
