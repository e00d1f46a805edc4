import type { liveEnglish } from "./words-live-en.ts";

/** The texts of an agent's page, live, in Chinese. */
export const liveChinese: typeof liveEnglish = {
  titleOf: { browser: (agent) => `${agent} 的页面`, desktop: (agent) => `${agent} 的桌面` },
  pictureOf: { browser: "页面当前的样子", desktop: "桌面当前的样子" },
  screenOf: {
    browser: "页面：您的点击和输入会直接作用于它。按 Esc 离开。",
    desktop: "桌面：您的点击和输入会直接作用于它。按 Esc 离开。",
  },
  phasesOf: {
    browser: {
      connecting: "正在连接",
      none: "没有打开的页面",
      watching: "正在观看",
      held: "页面由您控制，智能体正在等待",
      "handed-back": "已交还，正在观看",
      ended: "任务已结束，页面也已关闭。",
      refused: "此处无法显示该页面。",
    },
    desktop: {
      connecting: "正在连接",
      none: "没有打开的桌面",
      watching: "正在观看",
      held: "桌面由您控制，智能体正在等待",
      "handed-back": "已交还，正在观看",
      ended: "任务已结束，桌面也已关闭。",
      refused: "此处无法显示该桌面。",
    },
  },
  take: "接管",
  taking: "正在等待智能体完成调用",
  handBack: "交还",
  handedBackAnswer: "我已在页面上完成，并交还了页面。",
  hintOf: {
    browser: "接管后可以亲自在页面中点击和输入，智能体会等待。",
    desktop: "接管后可以亲自在桌面上点击和输入，智能体会等待。",
  },
  heldHintOf: {
    browser: "先点击画面，再输入。按 Esc 离开画面。您输入的内容只会发送到页面。两分钟没有操作，页面会自动交还。",
    desktop:
      "先点击画面，再输入。按 Esc 离开画面。您输入的内容只会发送到桌面；留在桌面上的可见文字，智能体能看到。两分钟没有操作，桌面会自动交还。",
  },
  dialog: "页面的对话框",
  accept: "确定",
  dismiss: "取消",
  typeHere: "输入到当前字段",
  typeIt: "输入",
  pageUp: "向上一屏",
  pageDown: "向下一屏",
  back: "后退",
};
