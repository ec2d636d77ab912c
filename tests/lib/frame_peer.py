# SPDX-License-Identifier: MIT
# A peer of the file worker that shares no code with it: Python's struct and
# json.  Prints TAP.  Started by tests/cli/fsworker.t.
import json
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
# Configuration of the suite's own is not the worker's.
for variable in list(os.environ):
    if variable.startswith('STATESPACE_') and \
            variable != 'STATESPACE_SANDBOX_MODE':
        del os.environ[variable]
MAX = 1 << 20
count = failed = 0


def ok(passed, sentence, seen=None):
    global count, failed
    count += 1
    print('%sok %d - %s' % ('' if passed else 'not ', count, sentence))
    if not passed:
        failed += 1
        print('# saw %.600r' % (seen,))
    sys.stdout.flush()


def same(seen, wanted, sentence):
    ok(seen == wanted, sentence, seen)


class Pipe:
    """A worker on pipes; bytes in, frames out."""

    def __init__(self, *options, env=None):
        self.process = subprocess.Popen(
            [PROGRAM, 'fsworker', *options], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)

    def send_bytes(self, data):
        try:
            self.process.stdin.write(data)
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def send(self, message):
        data = json.dumps(message).encode()
        self.send_bytes(struct.pack('>I', len(data)) + data)

    def receive(self):
        head = self.process.stdout.read(4)
        if len(head) < 4:
            return None
        return json.loads(self.process.stdout.read(
            struct.unpack('>I', head)[0]))

    def ask(self, **message):
        self.send(message)
        return self.receive()

    def end(self):
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, out, err.decode()


def error(answer):
    return answer and answer.get('kind') == 'error' and answer['code']


base = tempfile.mkdtemp(prefix='statespace-frames-')
root = os.path.join(os.path.realpath(base), 'root')
os.makedirs(root + '/src/deep')
files = {'a.txt': b'one\ntwo\nthree\n', 'src/main.rs': b'let x = 1;\n'
         b'let y = 2;\nlet x = 1;\n', 'src/deep/b.rs': b'fn b() {}\n',
         'bytes.bin': bytes(range(256)), '.hidden': b'x', 'big': b'x' * 600000}
for name, content in files.items():
    with open(os.path.join(root, name), 'wb') as f:
        f.write(content)
with open(base + '/secret', 'w') as f:
    f.write('TOPSECRET')
os.symlink(base + '/secret', root + '/out')
os.symlink('a.txt', root + '/in')
os.makedirs(root + '/.git/refs')
for name in ('.git/config', '.git/refs/main', 'src/.env'):
    with open(os.path.join(root, name), 'w') as f:
        f.write('DOTSECRET\n')
# Each leads to a dot entry, or below one; `chain` by way of others.
os.symlink('.hidden', root + '/dot')
os.symlink('src/.env', root + '/deep')
os.symlink('.git', root + '/git')
os.symlink('src/../git', root + '/chain')
os.symlink('src', root + '/folder')
os.symlink('nowhere', root + '/dangling')
subprocess.run(['chmod', '-R', 'a+rwX', base], check=True)

conf = base + '/statespace.toml'
with open(conf, 'w') as f:
    f.write('[env]\nFROM_FILE = "of the file"\n')
env = dict(os.environ, AMBIENT='SECRET', HTTPS_PROXY='http://no.example:1')
w = Pipe('-c', conf, '-e', 'HTTPS_PROXY=http://proxy.example:3128',
         '-e', 'EMPTY=', '--root', root, env=env)

# ---- what the source's own tests say of framing
same(w.ask(kind='ping'), {'kind': 'pong'}, 'ping is answered by pong')
answer = w.ask(kind='read', path='/etc/passwd', max_bytes=None)
same(error(answer), 'policy_denied', 'a refusal is an error with its code')
ok(isinstance(answer.get('message'), str), '... and a message', answer)
same(w.ask(kind='edit', path=root + '/src/main.rs',
           old_string='let x = 1;\nlet y = 2;', new_string='let x = 42;'),
     {'kind': 'edit', 'replacements': 1},
     'a request of a path and two texts with line breaks')
with open(root + '/src/main.rs', 'rb') as f:
    same(f.read(), b'let x = 42;\nlet x = 1;\n', '... does what it says')
ping = json.dumps({'kind': 'ping'}).encode()
read = json.dumps({'kind': 'read', 'path': root + '/a.txt',
                   'max_bytes': 1024}).encode()
w.send_bytes(struct.pack('>I', len(ping)) + ping +
             struct.pack('>I', len(read)) + read)
same([w.receive(), w.receive()],
     [{'kind': 'pong'}, {'kind': 'read', 'content': list(files['a.txt'])}],
     'two messages in one piece do not bleed into each other')
w.send_bytes(struct.pack('>I', len(ping)))
time.sleep(0.05)
for byte in ping:
    w.send_bytes(bytes([byte]))
same(w.receive(), {'kind': 'pong'}, 'a message may come byte by byte')
bad = b'this is not json'
w.send_bytes(struct.pack('>I', len(bad)) + bad)
answer = w.receive()
same(error(answer), 'protocol', 'a payload that is no JSON is answered')
ok('malformed JSON' in answer['message'], '... in those words', answer)
same(w.ask(kind='ping'), {'kind': 'pong'}, '... and the next one is read')
same(error(w.ask(kind='read', path=root + '/big')), 'protocol',
     'an answer above the limit is not sent, but said')
same(error(w.ask(kind='dance')), 'unimplemented', 'an unknown kind')
same(error(w.ask(kind='read')), 'protocol', 'a missing member')
same(error(w.ask(kind='read', path=7)), 'protocol', 'a wrong type')
same(error(w.ask(kind='write', path='x', content=[256])), 'protocol',
     'a byte that is none')
same(error(w.ask(kind='read', path='a\0b')), 'protocol', 'a NUL in a path')
w.send_bytes(struct.pack('>I', 0))
same(error(w.receive()), 'protocol', 'an empty payload')

# ---- the operations
same(w.ask(kind='read', path=root + '/bytes.bin'),
     {'kind': 'read', 'content': list(range(256))}, 'bytes come as they are')
same(w.ask(kind='read', path='a.txt', max_bytes=3),
     {'kind': 'read', 'content': [111, 110, 101]}, 'max_bytes cuts')
same(w.ask(kind='read', path='a.txt', max_bytes=0),
     {'kind': 'read', 'content': []}, '... down to nothing')
same(w.ask(kind='write', path=root + '/new.bin', content=list(range(256))),
     {'kind': 'write', 'bytes_written': 256}, 'write says how much')
with open(root + '/new.bin', 'rb') as f:
    same(f.read(), bytes(range(256)), '... and wrote it')
same(w.ask(kind='edit', path='src/main.rs', old_string='let ',
           new_string='var '), {'kind': 'edit', 'replacements': 2},
     'edit counts what it replaced')
same(error(w.ask(kind='edit', path='src/main.rs', old_string='nothing',
                 new_string='')), 'io', 'edit of what is not there')
same(w.ask(kind='glob', pattern='**/*.rs', root=root),
     {'kind': 'glob', 'paths': [root + '/src/deep/b.rs',
                                root + '/src/main.rs']},
     'glob gives sorted paths below the root that was asked')
same(w.ask(kind='glob', pattern='*', root='src'),
     {'kind': 'glob', 'paths': ['src/deep', 'src/main.rs']},
     '... relative ones for a relative root')
same(w.ask(kind='grep', pattern='^t', root=root, include='*.txt'),
     {'kind': 'grep', 'matches': [
         {'path': root + '/a.txt', 'line': 2, 'text': 'two'},
         {'path': root + '/a.txt', 'line': 3, 'text': 'three'}]},
     'grep gives path, line and text')
same(w.ask(kind='grep', pattern='zzz', root=root),
     {'kind': 'grep', 'matches': []}, '... or nothing')
same(error(w.ask(kind='grep', pattern='(', root=root)), 'protocol',
     'a pattern that is none')
same(w.ask(kind='stat', path='a.txt'), {'kind': 'stat', 'size': 14,
     'is_dir': False, 'is_symlink': False}, 'stat of a file')
same(w.ask(kind='stat', path=root), {'kind': 'stat', 'size': 0,
     'is_dir': True, 'is_symlink': False}, 'stat of the root')
same(w.ask(kind='stat', path='in')['is_symlink'], True, 'stat of a link')
same(w.ask(kind='get_env', names=['HTTPS_PROXY', 'EMPTY', 'NOT_THERE_X']),
     {'kind': 'get_env', 'values': ['http://proxy.example:3128', '', None]},
     'get_env tells the unset from the empty')
same(w.ask(kind='get_env', names=['FROM_FILE', 'AMBIENT', 'PATH', 'HOME']),
     {'kind': 'get_env', 'values': ['of the file', None, None, None]},
     '... and nothing that neither -e nor the configuration gives')

# ---- links to dot entries: what is there is not seen
for path in ('dot', 'deep', 'folder/.env', 'git/config', 'git/refs/main',
             'chain/config', root + '/dot'):
    for request in (dict(kind='read', path=path),
                    dict(kind='read', path=path, max_bytes=0),
                    dict(kind='read', path=path, max_bytes=9),
                    dict(kind='write', path=path, content=[1]),
                    dict(kind='edit', path=path, old_string='T',
                         new_string='x'),
                    dict(kind='stat', path=path)):
        same(error(w.ask(**request)), 'io', '%s of %s, which is a dot entry' %
             (request['kind'], path.replace(base, '')))
for path in ('git', 'chain', 'git/refs'):
    for request in (dict(kind='stat', path=path),
                    dict(kind='write', path=path + '/new', content=[1]),
                    dict(kind='glob', pattern='*', root=path),
                    dict(kind='grep', pattern='SECRET', root=path)):
        same(error(w.ask(**request)), 'io', '%s in %s, which is a dot '
             'directory' % (request['kind'], path))
for path in ('dot', 'git/config', 'chain/refs/main'):
    same(error(w.ask(kind='grep', pattern='.', root=path)), 'io',
         'grep in %s' % path)
same(w.ask(kind='grep', pattern='DOTSECRET', root=root),
     {'kind': 'grep', 'matches': []}, 'grep of everything finds none of it')
same(w.ask(kind='glob', pattern='{dot,deep,git,chain}', root=root),
     {'kind': 'glob', 'paths': []}, 'glob does not name such a link')
same(w.ask(kind='glob', pattern='{git,chain}/**', root=root),
     {'kind': 'glob', 'paths': []}, '... nor what is behind one')
same(w.ask(kind='glob', pattern='[cdf]*', root=root),
     {'kind': 'glob', 'paths': [root + '/dangling', root + '/folder']},
     '... other links are named, also one that leads nowhere')
same(w.ask(kind='stat', path='dangling')['is_symlink'], True,
     'stat of a link that leads nowhere')
same(w.ask(kind='read', path='folder/main.rs')['kind'], 'read',
     'a link to a directory is followed')
for name in ('.git/config', 'src/.env'):
    with open(os.path.join(root, name)) as f:
        same(f.read(), 'DOTSECRET\n', name + ' is as it was')
same(sorted(os.listdir(root + '/.git')), ['config', 'refs'],
     'nothing was made in a dot directory')

# ---- what it does not do
for path in ('/etc/passwd', root + '/../secret', '../secret', 'out',
             root + 'x/y', base + '/secret', 'src/../../secret',
             '/proc/self/environ', root + '/./../secret'):
    for request in (dict(kind='read', path=path),
                    dict(kind='write', path=path, content=[1]),
                    dict(kind='edit', path=path, old_string='T',
                         new_string='x')):
        same(error(w.ask(**request)), 'policy_denied',
             '%s of %s' % (request['kind'], path.replace(base, '')))
same(error(w.ask(kind='glob', pattern='../*', root=root)), 'policy_denied',
     'a pattern that climbs')
same(error(w.ask(kind='grep', pattern='x', root='/etc')), 'policy_denied',
     'a search elsewhere')
same(error(w.ask(kind='read', path='none')), 'io', 'no such file')
same(error(w.ask(kind='read', path='src')), 'io', 'a directory')
same(error(w.ask(kind='read', path='.hidden')), 'io', 'a dot entry')
with open(base + '/secret') as f:
    same(f.read(), 'TOPSECRET', 'what lies outside is as it was')

# ---- ends
same(w.ask(kind='shutdown'), {'kind': 'pong'}, 'shutdown is answered')
same(w.end(), (0, b'', ''), '... and ends it well')

w = Pipe('--root', root)
same(w.end(), (0, b'', ''), 'a peer that goes between frames is no error')
for name, data in (('inside the length', b'\0\0'),
                   ('inside the payload', struct.pack('>I', 100) + b'abcd'),
                   ('before the payload', struct.pack('>I', 100))):
    w = Pipe('--root', root)
    w.send_bytes(data)
    code, out, err = w.end()
    ok(code == 1 and out == b'' and 'cut' in err, 'an end ' + name +
       ' is an error', (code, out, err))
for size in (MAX + 1, 0xffffffff):
    w = Pipe('--root', root)
    w.send_bytes(struct.pack('>I', size))
    answer = w.receive()
    ok(error(answer) == 'protocol' and 'exceeds max' in answer['message'],
       'a length of %d is refused before anything is read' % size, answer)
    same(w.end()[0], 1, '... and ends the worker')
w = Pipe('--root', root)
data = json.dumps({'kind': 'ping', 'x': 'y' * (MAX - 64)}).encode()
w.send_bytes(struct.pack('>I', MAX) + data.ljust(MAX))
same(w.receive(), {'kind': 'pong'}, 'a payload of the very limit is read')
w.end()

# ---- over a socket
path = os.path.join(base, 's')
server = subprocess.Popen([PROGRAM, 'fsworker', '--socket', path, '--root',
                           root], stderr=subprocess.PIPE)
for _ in range(200):
    if os.path.exists(path):
        break
    time.sleep(0.05)
same(stat.S_IMODE(os.stat(path).st_mode), 0o600, 'the socket is its owner\'s')


def talk(messages, cut=b''):
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(path)
        f = s.makefile('rwb')
        got = []
        for m in messages:
            d = json.dumps(m).encode()
            f.write(struct.pack('>I', len(d)) + d)
            f.flush()
            got.append(json.loads(f.read(struct.unpack('>I', f.read(4))[0])))
        if cut:
            s.sendall(cut)
        return got


same(talk([{'kind': 'ping'}]), [{'kind': 'pong'}], 'a peer on the socket')
talk([], b'\0\0')
same(talk([{'kind': 'ping'}]), [{'kind': 'pong'}],
     'one that breaks off does not take the next along')
same(talk([{'kind': 'shutdown'}]), [{'kind': 'pong'}], 'shutdown')
same(server.wait(20), 0, '... ends it')
ok(not os.path.exists(path), '... and takes the socket away')
server = subprocess.Popen([PROGRAM, 'fsworker', '--socket', path, '--root',
                           root], stderr=subprocess.PIPE)
for _ in range(200):
    if os.path.exists(path):
        break
    time.sleep(0.05)
time.sleep(0.2)
server.send_signal(signal.SIGTERM)
server.wait(20)
ok(not os.path.exists(path), 'SIGTERM takes the socket away too')

shutil.rmtree(base)
print('1..%d' % count)
sys.exit(failed != 0)
