import { MAX_TEXT_BYTES, type Unreadable } from './folder.ts';
import type { Problem } from './problems.ts';

type Words = Pick<Problem, 'rule' | 'message' | 'hint'>;

/** `1.4 MB`, in the units that the platform's limits are given in; rounded up, so that too much never reads like enough. */
export function megabytes(bytes: number): string {
  return `${Math.ceil((bytes / (1024 * 1024)) * 10) / 10} MB`;
}

/** Why a file cannot be used. The message begins with a verb: the caller puts before it what names the file. */
export function fileWords(path: string, why: Unreadable): Words {
  const names = `names ${JSON.stringify(path)}`;
  const inside = 'Paths begin at the stack folder and stay inside it';
  switch (why.reason) {
    case 'missing':
      return {
        rule: 'file/missing',
        message: `${names}, which does not exist`,
        hint:
          why.nearest === undefined
            ? 'Paths begin at the stack folder'
            : `Did you mean "${why.nearest}"?`,
      };
    case 'absolute':
      return { rule: 'file/outside', message: `${names}, an absolute path`, hint: inside };
    case 'parent':
      return { rule: 'file/outside', message: `${names}, which leaves its folder`, hint: inside };
    case 'link':
      return {
        rule: 'file/outside',
        message: `${names}, a link that leads out of the stack folder`,
        hint: 'Copy the file into the stack folder',
      };
    case 'hidden':
      return {
        rule: 'file/outside',
        message: `${names}, and what begins with a dot is not read`,
        hint: 'Such files hold credentials and state; move the text to a file without the dot',
      };
    case 'backslash':
      return {
        rule: 'file/outside',
        message: `${names}, which has a backslash`,
        hint: 'Write paths with forward slashes',
      };
    case 'directory':
      return { rule: 'file/kind', message: `${names}, which is a folder`, hint: 'Name a file' };
    case 'special':
      return {
        rule: 'file/kind',
        message: `${names}, which is not a regular file`,
        hint: 'Name a regular file',
      };
    case 'unreadable':
      return {
        rule: 'file/unreadable',
        message: `${names}, which cannot be read`,
        hint: 'Check the permissions of the file',
      };
    case 'too-large':
      return {
        rule: 'file/size',
        message: `${names}, which has ${megabytes(why.size)}; texts may have ${megabytes(MAX_TEXT_BYTES)}`,
      };
    case 'encoding':
      return {
        rule: 'file/encoding',
        message: `${names}, which is not UTF-8 text`,
        hint: /\.csv$/i.test(path)
          ? 'Save it as CSV UTF-8, which a spreadsheet offers beside plain CSV'
          : 'Save it as UTF-8',
      };
  }
}
