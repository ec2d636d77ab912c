<?php
// SPDX-License-Identifier: MIT
// The same answer from php-fpm: one process for each request's command.
$words = json_decode(file_get_contents('php://input'))->command;
$child = proc_open($words, [['file', '/dev/null', 'r'], ['pipe', 'w'],
	['pipe', 'w']], $pipes, null, ['PATH' => '/usr/bin:/bin']);
$out = stream_get_contents($pipes[1]);
$err = stream_get_contents($pipes[2]);
$code = proc_close($child);
header('Content-Type: application/json');
echo json_encode(['stdout' => $out, 'stderr' => $err, 'returncode' => $code]);
