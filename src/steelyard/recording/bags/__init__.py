"""ROS 2 bags without ROS: SQLite (`.db3`) and MCAP containers of joint states."""
