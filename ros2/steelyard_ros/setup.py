"""How colcon builds the package."""

from setuptools import setup

setup(
    name="steelyard_ros",
    version="0.1.0",
    packages=["steelyard_ros"],
    data_files=[
        ("share/ament_index/resource_index/packages", ["resource/steelyard_ros"]),
        ("share/steelyard_ros", ["package.xml"]),
        ("share/steelyard_ros/launch", ["launch/play.launch.py"]),
    ],
    install_requires=["setuptools"],
    zip_safe=True,
    license="Apache-2.0",
    entry_points={"console_scripts": ["play = steelyard_ros.play:main"]},
)
