import { createCipheriv, createHmac, hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { ContentRecord } from '../../src/snapshot/format.ts';
import { PASSPHRASE, written } from './files.ts';

const PIECE = 64 * 1024;

/** A file as earlier versions wrote it with a passphrase; guessing costs nothing. */
export async function writtenV1(
  records: Iterable<ContentRecord>,
  passphrase = PASSPHRASE,
): Promise<string> {
  const { file } = await written(records);
  await writeFile(file, sealV1(await readFile(file), passphrase));
  return file;
}

function sealV1(compressed: Buffer, passphrase: string): Buffer {
  const cost = { n: 16, r: 8, p: 1 };
  const salt = randomBytes(16);
  const secret = scryptSync(passphrase.normalize('NFKC'), salt, 32, { N: cost.n, r: 8, p: 1 });
  const part = (use: string) => Buffer.from(hkdfSync('sha256', secret, salt, use, 32));
  const settings = JSON.stringify({ kdf: 'scrypt', ...cost, salt: salt.toString('base64') });
  const lines = `callsheet-sealed-snapshot/1\n${settings}\n`;
  const mac = createHmac('sha256', part('callsheet snapshot head')).update(lines).digest('base64');
  const count = Math.max(1, Math.ceil(compressed.length / PIECE));
  const pieces = Array.from({ length: count }, (_, index) => {
    const nonce = Buffer.alloc(12);
    nonce.writeUIntBE(index, 5, 6);
    nonce.writeUInt8(index === count - 1 ? 1 : 0, 11);
    const cipher = createCipheriv('aes-256-gcm', part('callsheet snapshot chunks'), nonce);
    const plain = compressed.subarray(index * PIECE, (index + 1) * PIECE);
    return Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  });
  return Buffer.concat([Buffer.from(`${lines}${mac}\n`), ...pieces]);
}
