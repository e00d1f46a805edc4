import type { skillsEnglish } from "./words-skills-en.ts";

/** The texts of the skills in the settings, in Chinese. */
export const skillsChinese: typeof skillsEnglish = {
  title: "技能",
  note: "带脚本的操作说明，任务需要时由智能体阅读。新增或有改动的技能，在你阅读并批准之前不会使用。",
  none: "没有技能",
  noneMore: "在网关所在的机器上添加：manyhands skills add 文件夹",
  states: {
    shipped: "随 manyhands 提供",
    approved: "已批准",
    new: "等待你批准",
    changed: "批准后有改动",
    invalid: "无法使用",
  },
  read: "阅读",
  close: "收起",
  like: (name) => `名称容易与 ${name} 混淆。`,
  allowedTools: (names) => `作者列出了这些工具：${names}。这不授予任何权限。`,
  license: (name) => `许可证：${name}`,
  files: (count) => `${count} 个文件`,
  notText: "未显示：不是文本，或过长。请在文件夹中查看。",
  approveNote: "批准的正是这些文件；以后的任何改动都要重新批准。",
  approve: "批准此技能",
  approved: (name) => `智能体将在几秒内使用 ${name}。`,
  removeAsk: (name) => `移除 ${name}？`,
  removeMore: "它在主目录中的文件夹会被删除。",
  removed: (name) => `${name} 已移除。`,
};
