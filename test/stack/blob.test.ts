import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Blob } from '../../src/core/value.ts';
import { broken, load, loadGood, PDF, WAV } from './stack-folder.ts';

const voice = (clip: string) => ({
  'v.yaml': `custom_voices: { v: { name: V, clip: ${clip}, consent: true } }`,
});
const source = (file: string) => ({
  'k.yaml': `knowledge_bases: { kb: { id: 0d0e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11, sources: { s: { file: ${file} } } } }`,
});
const EBML = '\x1a\x45\xdf\xa3\x42\x82';
const WEBM = Buffer.from(`${EBML}\x84webm`, 'latin1');
const mega = 1024 * 1024;

broken([
  {
    title: 'a clip of another type',
    files: { 'a.aac': 'x', ...voice('a.aac') },
    says: [
      'v.yaml:1:38 file/type custom_voice.v: clip names "a.aac", whose type is not one that a recording may have',
    ],
    hint: 'mp3, wav, wave, flac, ogg, oga, opus, webm, weba',
  },
  {
    title: 'a clip whose type is a name that every object has',
    files: { 'a.constructor': 'x', ...voice('a.constructor') },
    says: [
      'v.yaml:1:38 file/type custom_voice.v: clip names "a.constructor", whose type is not one that a recording may have',
    ],
  },
  {
    title: 'a clip whose content is something else',
    files: { 'a.mp3': WAV, ...voice('a.mp3') },
    says: [
      'v.yaml:1:38 warning file/type custom_voice.v: clip names "a.mp3", whose content does not look like that of a .mp3 file',
    ],
  },
  {
    title: 'a clip that is empty',
    files: { 'a.wav': '', ...voice('a.wav') },
    says: ['v.yaml:1:38 file/size custom_voice.v: clip names "a.wav", which is empty'],
  },
  {
    title: 'a clip that is too large',
    files: { 'a.wav': Buffer.concat([WAV, Buffer.alloc(4 * mega)]), ...voice('a.wav') },
    says: [
      'v.yaml:1:38 file/size custom_voice.v: clip names "a.wav", which has 4.1 MB; the platform accepts 4 MB',
    ],
  },
  {
    title: 'a document that is too large',
    files: { 'a.pdf': Buffer.concat([PDF, Buffer.alloc(51 * mega)]), ...source('a.pdf') },
    says: [
      'k.yaml:1:90 file/size knowledge_source.kb.s: file names "a.pdf", which has 51.1 MB; the platform accepts 50 MB',
    ],
  },
  {
    title: 'a document that is no text',
    files: { 'a.txt': PDF, ...source('a.txt') },
    says: [
      'k.yaml:1:90 warning file/type knowledge_source.kb.s: file names "a.txt", whose content does not look like that of a .txt file',
    ],
  },
  {
    title: 'documents that are not there, or not to be had',
    files: {
      'docs/prices.pdf': PDF,
      ...source('docs/price.pdf'),
      ...voice('../a.wav'),
    },
    says: [
      'k.yaml:1:90 file/missing knowledge_source.kb.s: file names "docs/price.pdf", which does not exist',
      'v.yaml:1:38 file/outside custom_voice.v: clip names "../a.wav", which leaves its folder',
    ],
    hint: 'Did you mean "docs/prices.pdf"?',
  },
  {
    title: 'a form where the path itself belongs',
    files: { 'a.wav': WAV, ...voice('{ $file: a.wav }') },
    says: ['v.yaml:1:47 file/not-allowed custom_voice.v: clip cannot be given as $file'],
    hint: 'Give the path itself',
  },
]);

test.each([
  ['a.mp3', Buffer.from('ID3\x04', 'latin1'), 'audio/mpeg'],
  ['a.mp3', Buffer.from([0xff, 0xfb, 0x90, 0x64]), 'audio/mpeg'],
  ['a.WAV', WAV, 'audio/wav'],
  ['a.flac', Buffer.from('fLaC'), 'audio/flac'],
  ['a.ogg', Buffer.from('OggS'), 'audio/ogg'],
  ['a.opus', Buffer.from('OggS'), 'audio/ogg'],
  ['a.webm', WEBM, 'audio/webm'],
])('%s is taken as a clip', async (name, content, mime) => {
  const { resources } = await loadGood({ [name]: content, ...voice(name) });
  const sha256 = createHash('sha256').update(content).digest('hex');
  expect(resources[0]?.document.clip).toEqual(new Blob(name, sha256, content.length, mime));
});

test.each([
  ['AAC', 'a.mp3', Buffer.from([0xff, 0xf1, 0x50, 0x80])],
  ['UTF-16', 'a.mp3', Buffer.from([0xff, 0xfe, 0x41, 0x00])],
  ['MPEG video sound of layer II', 'a.mp3', Buffer.from([0xff, 0xfd, 0x90, 0x04])],
  ['Matroska', 'a.webm', Buffer.from(`${EBML}\x88matroska`, 'latin1')],
  ['AVI', 'a.wav', Buffer.from('RIFF\0\0\0\0AVI LIST', 'latin1')],
])('%s under the name %s looks like no such clip', async (_, name, content) => {
  const { diagnostics } = await load({ [name]: content, ...voice(name) });
  expect(diagnostics.map(({ severity, rule }) => [severity, rule])).toEqual([
    ['warning', 'file/type'],
  ]);
});

test.each([
  ['a spreadsheet', 'a.docx', Buffer.from('PK\x03\x04…xl/workbook.xml', 'latin1')],
  ['UTF-16', 'a.txt', Buffer.from('text', 'utf16le')],
  ['a text document', 'a.md', Buffer.from('PK\x03\x04…word/document.xml', 'latin1')],
  ['a text', 'a.pdf', Buffer.from('PDF')],
])('%s under the name %s looks like no such document', async (_, name, content) => {
  const { diagnostics } = await load({ [name]: content, ...source(name) });
  expect(diagnostics.map(({ severity, rule }) => [severity, rule])).toEqual([
    ['warning', 'file/type'],
  ]);
});

test.each([
  ['docs/a.pdf', PDF, 'application/pdf'],
  [
    'docs/a.docx',
    Buffer.from('PK\x03\x04…word/document.xml', 'latin1'),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  ['docs/a.txt', Buffer.from('text'), 'text/plain'],
  ['docs/a.html', Buffer.from('<p>'), 'text/html'],
  ['docs/a.csv', Buffer.from('a,b'), 'text/csv'],
  ['./docs/a.md', Buffer.from('# é'), 'text/markdown'],
])('%s is taken as a document, and names it', async (name, content, mime) => {
  const { resources } = await loadGood({ [name]: content, ...source(name) });
  const document = resources[0]?.document;
  expect(document?.file).toMatchObject({
    path: name.replace('./', ''),
    mime,
    size: content.length,
  });
  expect(document?.name).toBe(name.split('/').at(-1));
  expect(resources[0]?.locate('name')).toEqual({ file: 'k.yaml', line: 1, column: 84 });
});
