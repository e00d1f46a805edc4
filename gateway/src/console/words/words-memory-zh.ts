import type { memoryEnglish } from "./words-memory-en.ts";

/** The same in Chinese. */
export const memoryChinese: typeof memoryEnglish = {
  title: "记忆",
  note: "智能体在每次新对话中对你的了解。它们会看到你的偏好，以及与任务相关的事实和做法。",
  off: "智能体没有使用你的记忆。请在设置文件的 [memory] principals 中写上你的名字，然后重新启动。",
  add: "记住一件事",
  none: "没有记忆",
  noneMore: "告诉智能体要记住什么，或在这里写下。",
  kinds: { fact: "事实", preference: "偏好", "how-to": "做法" },
  kind: "类型",
  text: "要记住的内容",
  public: "任何人都可以知道",
  publicNote: "否则，想起它的任务在向你没有提到的地方发送内容之前会先问你。",
  isPublic: "任何人都可以知道",
  byAgent: "由智能体写下",
  byPerson: "由你写下",
  after: (sources: string) => `在读过 ${sources} 之后`,
  edit: "编辑",
  remove: "删除",
  removeAsk: "删除这一条？",
  removeMore: "它也会从磁盘上删除。想起过它的运行在被删除之前仍保留读到的内容。",
  clear: "全部删除",
  clearAsk: "删除你的全部记忆？",
  removed: "已删除。",
  saved: "已保存。",
};
