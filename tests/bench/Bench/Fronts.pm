# SPDX-License-Identifier: MIT
# Configurations of the front servers: the ones that are shipped, changed where
# an operator would change them, and the smallest ones of the other contenders.
#
# Every server of nginx gets the same location as is shipped for the pool, so
# that only what stands behind its socket differs.
package Bench::Fronts;

use strict;
use warnings;
use Cwd ();
use File::Basename qw(dirname);
use Statespace::TestSite qw(slurp);

my $NGINX = Cwd::realpath(dirname(__FILE__) . '/../../../nginx');

sub shipped
{
	my ($name) = @_;

	return slurp("$NGINX/$name");
}

# The shipped location, with what differs between contenders:
#	pass => address, params => more of them, keep => connections are kept,
#	site => directory of files that are handed over, cached => micro-cache
sub location
{
	my (%with) = @_;
	my $text = shipped('statespace_locations');

	$text =~ s/fastcgi_pass statespace_\w+;/fastcgi_pass $with{pass};/g;
	$text =~ s/fastcgi_keep_conn off/fastcgi_keep_conn on/ if $with{keep};
	$text =~ s{(include statespace/statespace_params;)}{$with{params}$1}
	    if $with{params};
	my $handover = $with{site}
	    ? shipped('snippets/handover') =~ s{/srv/statespace}{$with{site}}gr
	    : shipped('snippets/handover_off');
	$text = join('', map { "set \$statespace_$_ \"\";\n" } qw(user auth hsts))
	    . ($with{cached} ? shipped('snippets/cache') : '')
	    . $handover . $text;
	return $text =~ s{include statespace/}{include $NGINX/}gr;
}

# servers: [port, text of the server block], ...; http: what stands before.
sub nginx
{
	my ($dir, $http, @servers) = @_;
	my $user = $> == 0 ? "user root;\n" : '';
	my $zone = shipped('snippets/cache_zone')
	    =~ s{/run/nginx_statespace}{$dir/cache}r;
	my $temp = join '', map { "${_}_temp_path $dir/$_;\n" }
	    qw(client_body proxy fastcgi uwsgi scgi);
	my $servers = join '', map { <<"END" } @servers;
server {
	listen 127.0.0.1:$_->[0];
	merge_slashes off;
	client_max_body_size 1088k;
	client_body_buffer_size 1088k;
	$_->[1]
}
END

	return <<"END";
${user}worker_processes auto;
pid $dir/nginx.pid;
error_log stderr error;
daemon off;
events { worker_connections 1024; }
http {
access_log off;
types { text/markdown md; }
default_type application/octet-stream;
keepalive_requests 1000000;
map \$remote_addr \$statespace_local { default ""; }
$temp$zone$http
$servers}
END
}

# lighttpd with CGI programs of a directory.
sub lighttpd_cgi
{
	my ($port, $cgi) = @_;

	return <<"END";
server.modules = ( "mod_cgi" )
server.document-root = "$cgi"
server.port = $port
server.bind = "127.0.0.1"
server.max-keep-alive-requests = 1000000
cgi.assign = ( ".cgi" => "" )
END
}

# The shipped lighttpd.conf, with files handed over.
sub lighttpd_handover
{
	my ($port, $socket, $site) = @_;
	my $text = shipped('lighttpd.conf');

	$text =~ s{/run/statespace/pool\.sock}{$socket}g;
	$text =~ s{^server\.port = \d+}{server.port = $port}m;
	$text =~ s{^(?:server\.(?:username|groupname|errorlog)|accesslog\.\w+) = .*\n}{}mg;
	$text =~ s{/srv/statespace}{$site}g;
	$text =~ s{/var/empty}{$site};
	return $text;
}

sub apache_head
{
	my ($dir, @modules) = @_;
	my $user = $> == 0 ? "User nobody\nGroup nogroup\n" : '';
	my $modules = join '', map {
		"LoadModule ${_}_module /usr/lib/apache2/modules/mod_$_.so\n"
	} qw(mpm_event authz_core), @modules;

	return <<"END";
$modules${user}ServerRoot $dir
ServerName 127.0.0.1
PidFile $dir/apache.pid
DefaultRuntimeDir $dir
ErrorLog /dev/null
MaxKeepAliveRequests 0
<Directory />
Require all granted
</Directory>
END
}

sub apache_cgi
{
	my ($dir, $port, $cgi) = @_;

	return apache_head($dir, qw(cgid alias)) . <<"END";
Listen 127.0.0.1:$port
ScriptSock $dir/cgid.sock
ScriptAlias "/" "$cgi/"
END
}

# The shipped apache.conf, with files handed over.
sub apache_handover
{
	my ($dir, $port, $socket, $site) = @_;
	my $text = shipped('apache.conf');

	$text =~ s{/run/statespace/pool\.sock}{$socket}g;
	$text =~ s{^\s*#\s*(XSendFile.*)}{$1}gm;
	$text =~ s{/srv/statespace}{$site};
	$text =~ s{\*:80}{127.0.0.1:$port};
	return apache_head($dir, qw(proxy proxy_fcgi setenvif env
		alias xsendfile))
	    . "Listen 127.0.0.1:$port\n$text";
}

sub php_fpm
{
	my ($socket, $workers) = @_;
	my $user = $> == 0 ? "user = nobody\ngroup = nogroup\n" : '';

	return <<"END";
[global]
error_log = /dev/stderr
log_level = error
[bench]
${user}listen = $socket
listen.mode = 0666
listen.backlog = 511
pm = static
pm.max_children = $workers
END
}

1;
