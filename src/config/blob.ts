import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { ownOf } from '../core/own.ts';
import { Blob } from '../core/value.ts';
import { fileWords, megabytes } from './file-words.ts';
import { type Folder, isUnreadable } from './folder.ts';
import type { Problem } from './problems.ts';

type FileType = {
  readonly mime: string;
  /** Whether its bytes are those of such a file, by the first of them; a text type has no mark of its own. */
  readonly matches: (head: Buffer, whole: Buffer) => boolean;
};

type Rule = {
  /** What the file is, in words. */
  readonly noun: string;
  readonly maxBytes: number;
  readonly types: Readonly<Record<string, FileType>>;
};

function begins(head: Buffer, text: string, at = 0): boolean {
  return head.subarray(at, at + text.length).equals(Buffer.from(text, 'latin1'));
}

/** A frame of layer III, with a bitrate and a sampling rate that there are: AAC and UTF-16 begin alike. */
function isFrame([sync = 0, kind = 0, rate = 0]: Buffer): boolean {
  const isLayer3 = sync === 0xff && (kind & 0xe6) === 0xe2;
  return isLayer3 && rate >> 4 !== 0xf && ((rate >> 2) & 3) !== 3;
}

const isMp3 = (head: Buffer) => begins(head, 'ID3') || isFrame(head);
/** EBML is Matroska's as well: the document type says which. */
const isWebm = (head: Buffer) => begins(head, '\x1a\x45\xdf\xa3') && head.includes('webm');
const isPdf = (head: Buffer) => begins(head, '%PDF-');
const isZip = (head: Buffer) => begins(head, 'PK\x03\x04');
/** Every file of an office is a ZIP archive; a text document has its parts below `word/`. */
const isWord = (head: Buffer, whole: Buffer) => isZip(head) && whole.includes('word/');
const isPlain = (head: Buffer) => !head.includes(0) && !isPdf(head) && !isZip(head);

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const HTML: FileType = { mime: 'text/html', matches: isPlain };
const MARKDOWN: FileType = { mime: 'text/markdown', matches: isPlain };

/** Types and sizes that the platform takes, by `x-file` (Custom voices; Knowledge base sources; Limits). */
const RULES: Readonly<Record<string, Rule>> = {
  clip: {
    noun: 'a recording',
    maxBytes: 4 * 1024 * 1024,
    types: {
      mp3: { mime: 'audio/mpeg', matches: isMp3 },
      wav: {
        mime: 'audio/wav',
        matches: (head) => begins(head, 'RIFF') && begins(head, 'WAVE', 8),
      },
      flac: { mime: 'audio/flac', matches: (head) => begins(head, 'fLaC') },
      ogg: { mime: 'audio/ogg', matches: (head) => begins(head, 'OggS') },
      webm: { mime: 'audio/webm', matches: isWebm },
    },
  },
  document: {
    noun: 'a document',
    maxBytes: 50 * 1024 * 1024,
    types: {
      pdf: { mime: 'application/pdf', matches: isPdf },
      docx: { mime: WORD, matches: isWord },
      txt: { mime: 'text/plain', matches: isPlain },
      html: HTML,
      htm: HTML,
      csv: { mime: 'text/csv', matches: isPlain },
      md: MARKDOWN,
      markdown: MARKDOWN,
    },
  },
};

/** Enough for every signature, and for a zero byte to show that a text is none. */
const HEAD_BYTES = 4096;

type Words = Pick<Problem, 'rule' | 'message' | 'hint'>;
type BlobOutcome = { readonly blob: Blob } | { readonly words: Words };

/**
 * The file that a field with `x-file` names, checked for type and size. The type follows from the name
 * and must agree with the first bytes, so that a renamed file is found before an upload fails.
 *
 * @param use the field's `x-file`
 * @returns the file, or words that begin with a verb
 */
export function readBlob(folder: Folder, path: string, use: string): BlobOutcome {
  const rule = RULES[use];
  if (rule === undefined) throw new Error(`no rule for files of the kind ${use}`);
  const found = folder.find(path);
  if (isUnreadable(found)) return { words: fileWords(path, found) };
  const names = `names ${JSON.stringify(path)}`;
  const extension = extname(path).slice(1).toLowerCase();
  const type = ownOf(rule.types, extension);
  if (type === undefined) {
    const allowed = Object.keys(rule.types).join(', ');
    const message = `${names}, whose type is not one that ${rule.noun} may have`;
    return { words: { rule: 'file/type', message, hint: `Use one of ${allowed}` } };
  }
  if (found.size === 0) {
    const words = {
      rule: 'file/size',
      message: `${names}, which is empty`,
      hint: 'Add its content',
    };
    return { words };
  }
  if (found.size > rule.maxBytes) {
    const message = `${names}, which has ${megabytes(found.size)}; the platform takes ${megabytes(rule.maxBytes)}`;
    return { words: { rule: 'file/size', message, hint: 'Make it shorter or compress it' } };
  }
  let bytes: Buffer;
  try {
    bytes = readFileSync(found.absolute);
  } catch {
    return { words: fileWords(path, { reason: 'unreadable' }) };
  }
  if (!type.matches(bytes.subarray(0, HEAD_BYTES), bytes)) {
    const message = `${names}, whose content is not that of a .${extension} file`;
    return { words: { rule: 'file/type', message, hint: 'Export it again in that format' } };
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { blob: new Blob(path.replace(/^(?:\.\/+)+/, ''), sha256, bytes.length, type.mime) };
}
