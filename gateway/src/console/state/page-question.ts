import type { RunView } from "manyhands/internal/runs/run-view";
import { runPath } from "../api/catalog.ts";
import { get, newKey, post } from "../api/client.ts";
import { refreshRuns } from "./store.ts";

/** What is in questions that a person may answer best on the agent's page or desktop. */
const ofPage =
  /\b(?:page|browser|captcha|sign[- ]?in|log[- ]?in|logged|password|robot|verif\w*|desktop|screen|window)\b|桌面|屏幕|窗口|页面|浏览器|登录|验证码|密码/i;

/** Whether a person may answer the question best on the agent's page. */
export function isAboutPage(question: string): boolean {
  return ofPage.test(question);
}

/**
 * Answers a run's open question about the agent's page, which a person has just handed back, so
 * that the agent goes on. Approvals and other questions stay open.
 */
export async function answerAboutPage(runId: string, answer: string): Promise<void> {
  const { status, question, questionEvent, approval } = await get<RunView>(runPath(runId));
  if (status !== "input-required" || question === undefined || approval !== undefined) return;
  if (!isAboutPage(question)) return;
  const body = { input: answer, ...(questionEvent !== undefined && { questionEvent }) };
  await post(`${runPath(runId)}/answer`, body, { "Idempotency-Key": newKey() });
  void refreshRuns();
}
