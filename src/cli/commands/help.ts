import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { openTerminal } from '../../console/terminal.ts';
import { EXIT, type ExitCode } from '../../core/errors.ts';
import { nearest } from '../../core/nearest.ts';
import { renderTopic, withoutComments } from '../../render/topic.ts';
import { docsFolder, topicPages } from '../topics.ts';

/** `callsheet help TOPIC`: a page of the documentation. Undefined where there is none of that name. */
export async function showTopic(
  topic: string,
  flags: { readonly color: boolean },
  env: NodeJS.ProcessEnv,
): Promise<ExitCode | undefined> {
  const path = topicPages().get(topic);
  if (path === undefined) return undefined;
  const text = readFileSync(join(docsFolder(), path), 'utf8');
  const { out, render } = openTerminal(flags, env);
  // In a pipe it stays what it is: Markdown.
  if (process.stdout.isTTY !== true && !render.color) out(withoutComments(text));
  else await page(renderTopic(text, render, linkWords(path)), { out, env });
  return EXIT.done;
}

/** The topic that a word was probably meant to be, if none of the commands is nearer. */
export function nearestTopic(word: string, commands: readonly string[]): string | undefined {
  const topics = [...topicPages().keys()];
  const near = nearest(word, [...commands, ...topics]);
  return near !== undefined && topics.includes(near) && !commands.includes(near) ? near : undefined;
}

/** Returns the words to type in a terminal to follow a link of a page. */
function linkWords(page: string): (href: string) => string | undefined {
  const topics = new Map([...topicPages()].map(([topic, path]) => [path, topic]));
  return (href) => {
    const [path = ''] = href.split('#');
    if (path === '') return undefined;
    if (/^[a-z]+:/.test(path)) return href;
    const target = posix.join(posix.dirname(page), path);
    const topic = topics.get(target);
    // A target that is no page comes with the package, too: a schema, an example.
    return topic === undefined ? posix.join('docs', target) : `callsheet help ${topic}`;
  };
}

type Screen = { readonly out: (text: string) => void; readonly env: NodeJS.ProcessEnv };

/** Shows a text in the pager where it does not fit the terminal, and prints it where there is none. */
async function page(text: string, { out, env }: Screen): Promise<void> {
  const pager = env.PAGER ?? 'less -R';
  const fits = text.split('\n').length <= (process.stdout.rows ?? 24);
  const isPaged = process.stdout.isTTY === true && process.stdin.isTTY === true && !fits;
  if (!isPaged || pager.trim() === '' || env.TERM === 'dumb') return out(text);
  const ended = await new Promise<number | null>((resolve) => {
    // LESS is what less reads its options from; R shows colours where somebody's PAGER is plain less.
    const child = spawn(pager, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'R', ...env },
    });
    child.on('error', () => resolve(NOT_FOUND)).on('close', resolve);
    // A reader who leaves the pager early has read enough.
    child.stdin.on('error', () => undefined).end(text);
  });
  if (ended === NOT_FOUND || ended === NOT_RUN) out(text);
}

/** A shell's status for a command that is not there, or may not be run. */
const NOT_FOUND = 127;
const NOT_RUN = 126;
