import type { sandboxEnglish } from "./words-sandbox-en.ts";

/** The texts of the sandbox in the settings, in Chinese. */
export const sandboxChinese: typeof sandboxEnglish = {
  title: "沙箱",
  note: "智能体的命令和 Python 如何被隔离。没有沙箱时，二者都不可用。",
  now: "当前使用",
  off: "命令未被隔离：服务用户能做的，命令都能做。选择一个级别即可改变。",
  tier: "级别",
  tiers: {
    auto: "本机可用的最强级别",
    srt: "同 bwrap；网络仅限 allow_domains 中的域名，经由代理",
    bwrap: "独立的文件系统和进程，无网络",
    landlock: "按内核清单限制文件，无套接字；适用于没有用户命名空间的机器",
  },
  testNote: "在本机的该沙箱中运行一条命令；不保存任何内容。",
  works: (tier) => `可在本机使用：${tier}。`,
  fails: "无法在本机使用。",
  domains: (names) => `命令可访问 ${names}。`,
  restartNeeded: "已保存，但运行中的服务仍使用之前的级别。",
  file: (file) => `写入 ${file}。`,
};
